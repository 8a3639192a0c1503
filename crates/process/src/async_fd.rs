//! Registration of file descriptors with the runtime.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Registers `fd` with the runtime.
#[expect(unsafe_code, reason = "tokio requires a promise that an owned descriptor keeps by itself")]
pub(crate) fn watch(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` returns the same descriptor each time and keeps it open as long as it lives. It cannot be taken
    // out of the `AsyncFd` without ending the registration, as callers get shared references only.
    Ok(unsafe { AsyncFd::register_with_interest(fd, interest) }?)
}

/// Registers `fd` in non-blocking mode.
pub(crate) fn watch_nonblocking(fd: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    fcntl_setfl(&fd, fcntl_getfl(&fd)? | OFlags::NONBLOCK)?;
    watch(fd, interest)
}
