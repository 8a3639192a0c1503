//! The handle to signal, stop and await a child.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::Signal;
use tokio::sync::watch;

use crate::Error;
use crate::life_stage::{self, AliveGuard, ChildExit, LifeStage};
use crate::process_group::ProcessGroup;
use crate::stderr_tail::StderrTail;

/// A handle of a child; clones refer to the same child. When all handles are dropped, including its stdin and stdout, its
/// process group is killed.
#[derive(Clone)]
pub struct ProcessControl {
    pub(crate) group: Arc<ProcessGroup>,
    pub(crate) stderr_tail: Arc<Mutex<StderrTail>>,
    /// The grace period, once a stop was requested.
    pub(crate) stop: watch::Sender<Option<Duration>>,
    pub(crate) grace: Duration,
    pub(crate) life: watch::Receiver<LifeStage>,
    pub(crate) _guard: AliveGuard,
}

impl ProcessControl {
    /// The child's process id, which is also its group id.
    pub fn pid(&self) -> u32 {
        self.group.id().as_raw_pid().unsigned_abs()
    }

    /// How it ended, if it has exited.
    pub fn exit(&self) -> Option<ChildExit> {
        self.life.borrow().reported_exit()
    }

    /// Waits for its exit. The stderr tail is complete then.
    pub async fn wait(&self) -> ChildExit {
        life_stage::wait_for_exit(&mut self.life.clone(), LifeStage::reported_exit).await
    }

    /// The last lines of its stderr as text, at most [`STDERR_TAIL_BYTES`](crate::STDERR_TAIL_BYTES).
    pub fn stderr_tail(&self) -> String {
        self.stderr_tail.lock().tail()
    }

    /// Signals its process group.
    ///
    /// # Errors
    /// [`Error::Exited`] when no process is left in it.
    pub fn signal(&self, signal: Signal) -> Result<(), Error> {
        self.group.signal(signal).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => Error::Exited,
            _ if source.raw_os_error() == Some(libc::ESRCH) => Error::Exited,
            _ => Error::Refused { action: "signal", source },
        })
    }

    /// Whether descendants may still have been running after [`stop`](Self::stop): a process that waits for a broken disk cannot
    /// be killed, and an orphan that may belong to another child is left alone ([`OrphanReaper`](crate::OrphanReaper)).
    pub fn has_survivors(&self) -> bool {
        self.group.has_survivors()
    }

    /// Stops the child and all its descendants: closes its stdin, then sends SIGTERM to the group, then SIGKILL to all that are
    /// left after the grace period. Returns within the grace period plus half a second. All callers share one escalation, and it
    /// continues if this future is dropped.
    pub async fn stop(&self) -> ChildExit {
        self.stop_within(self.grace).await
    }

    /// [`stop`](Self::stop)s it with a shorter grace period than its own. The first caller decides.
    pub async fn stop_within(&self, grace: Duration) -> ChildExit {
        self.stop.send_if_modified(|requested| {
            let first = requested.is_none();
            requested.get_or_insert(grace.min(self.grace));
            first
        });
        life_stage::wait_for_exit(&mut self.life.clone(), LifeStage::gone_exit).await
    }
}

impl fmt::Debug for ProcessControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessControl")
            .field("pid", &self.pid())
            .field("life", &*self.life.borrow())
            .finish()
    }
}
