//! The child itself: when and how it ended. It stays a zombie, which keeps its id ours, until the group is released.

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::process::{self, Pid, WaitId, WaitIdOptions};
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::Exit;
#[cfg(target_os = "linux")]
use crate::watched;

pub(crate) struct Leader {
    pid: Pid,
    watch: Watch,
}

/// What wakes us when it may have ended.
enum Watch {
    Pidfd(AsyncFd<OwnedFd>),
    /// Where there are no pidfds: any child's end.
    AnyChild(Signal),
}

impl Leader {
    /// Watches a child that has not been waited for.
    pub(crate) fn new(pid: Pid) -> io::Result<Self> {
        Ok(Self { pid, watch: Watch::new(pid)? })
    }

    /// Waits for its end, and leaves it to be reaped. Cancel safe.
    pub(crate) async fn exited(&mut self) -> Exit {
        loop {
            if let Some(exit) = look(self.pid, WaitIdOptions::NOWAIT) {
                return exit;
            }
            match &mut self.watch {
                Watch::Pidfd(fd) => {
                    let Ok(mut ready) = fd.readable().await else { return Exit::UNKNOWN };
                    if look(self.pid, WaitIdOptions::NOWAIT).is_none() {
                        ready.clear_ready();
                    }
                }
                Watch::AnyChild(ended) => {
                    ended.recv().await;
                }
            }
        }
    }
}

/// Takes the child's end from the system, so that its id can be used again.
pub(crate) fn reap(pid: Pid) {
    let _ = look(pid, WaitIdOptions::empty());
}

fn look(pid: Pid, how: WaitIdOptions) -> Option<Exit> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | how;
    loop {
        match process::waitid(WaitId::Pid(pid), options) {
            Ok(status) => {
                return status
                    .map(|status| Exit { code: status.exit_status(), signal: status.terminating_signal() });
            }
            Err(Errno::INTR) => {}
            // Someone else reaped it, as when we were started with SIGCHLD ignored.
            Err(_) => return Some(Exit::UNKNOWN),
        }
    }
}

impl Watch {
    fn new(pid: Pid) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Ok(fd) = process::pidfd_open(pid, process::PidfdFlags::empty()) {
            return Ok(Self::Pidfd(watched::watch(fd, tokio::io::Interest::READABLE)?));
        }
        let _ = pid;
        Ok(Self::AnyChild(signal(SignalKind::child())?))
    }
}
