//! The child process itself: waits for its exit without reaping it. It stays a zombie, which reserves its id, until the group
//! releases it.

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::process::{self, Pid, WaitId, WaitIdOptions};
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::ChildExit;
#[cfg(target_os = "linux")]
use crate::async_fd;

pub(crate) struct GroupLeader {
    pid: Pid,
    watch: ExitWatch,
}

/// The source of wake-ups when the child may have exited.
enum ExitWatch {
    Pidfd(AsyncFd<OwnedFd>),
    /// SIGCHLD, for systems without pidfds: some child has exited.
    AnyChild(Signal),
}

impl GroupLeader {
    /// Watches a child that has not been reaped.
    pub(crate) fn new(pid: Pid) -> io::Result<Self> {
        Ok(Self { pid, watch: ExitWatch::new(pid)? })
    }

    /// Waits for its exit and leaves it unreaped. Cancel safe.
    pub(crate) async fn exited(&mut self) -> ChildExit {
        loop {
            if let Some(exit) = poll_exit(self.pid, WaitIdOptions::NOWAIT) {
                return exit;
            }
            match &mut self.watch {
                ExitWatch::Pidfd(fd) => {
                    let Ok(mut ready) = fd.readable().await else { return ChildExit::UNKNOWN };
                    // A pidfd stays readable once the process has exited; only a spurious wake-up clears it.
                    if poll_exit(self.pid, WaitIdOptions::NOWAIT).is_none() {
                        ready.clear_ready();
                    }
                }
                ExitWatch::AnyChild(ended) => {
                    ended.recv().await;
                }
            }
        }
    }
}

/// Reaps an exited child, so that its id can be reused.
pub(crate) fn reap(pid: Pid) {
    let _ = poll_exit(pid, WaitIdOptions::empty());
}

fn poll_exit(pid: Pid, options: WaitIdOptions) -> Option<ChildExit> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | options;
    loop {
        match process::waitid(WaitId::Pid(pid), options) {
            Ok(status) => {
                return status.map(|status| ChildExit {
                    code: status.exit_status(),
                    signal: status.terminating_signal(),
                });
            }
            Err(Errno::INTR) => {}
            // Reaped elsewhere, for example because this process was started with SIGCHLD ignored.
            Err(_) => return Some(ChildExit::UNKNOWN),
        }
    }
}

impl ExitWatch {
    fn new(pid: Pid) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Ok(fd) = process::pidfd_open(pid, process::PidfdFlags::empty()) {
            return Ok(Self::Pidfd(async_fd::watch(fd, tokio::io::Interest::READABLE)?));
        }
        let _ = pid;
        Ok(Self::AnyChild(signal(SignalKind::child())?))
    }
}
