//! Addresses of local sockets, which the system wants to be short.

use std::{
    fs::File,
    io,
    os::fd::AsRawFd,
    path::{Path, PathBuf},
};

/// The longest address of a local socket: what fits in `sun_path`, with its end.
const ADDRESS_BYTES_MAX: usize = 107;

/// Uses a path as the address of a socket, however long it is: a long one is reached through its directory.
pub(crate) fn short<T>(path: &Path, with: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    if path.as_os_str().len() <= ADDRESS_BYTES_MAX {
        return with(path);
    }
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidFilename.into());
    };
    let directory = File::open(directory)?;
    with(&PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd())).join(name))
}
