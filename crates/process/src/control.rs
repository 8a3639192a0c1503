//! The door to a running child: who it is, how it ended, and how to end it.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::process::Signal;
use tokio::sync::watch;

use crate::Error;
use crate::group::Group;
use crate::life::{self, Exit, Hold, Life};
use crate::stderr::Ring;

/// A handle on a child; clones are the same child. When all handles of a child are dropped, its stdin and stdout
/// included, its group is killed.
#[derive(Clone)]
pub struct Control {
    pub(crate) group: Arc<Group>,
    pub(crate) ring: Arc<Mutex<Ring>>,
    /// Within which time it is to end, once it is.
    pub(crate) stop: watch::Sender<Option<Duration>>,
    pub(crate) grace: Duration,
    pub(crate) life: watch::Receiver<Life>,
    pub(crate) _hold: Hold,
}

impl Control {
    /// The child's process id, which is its group's too.
    pub fn pid(&self) -> u32 {
        self.group.id().as_raw_pid().unsigned_abs()
    }

    /// How it ended, if it has ended.
    pub fn exit(&self) -> Option<Exit> {
        self.life.borrow().told()
    }

    /// Waits for its end by whatever cause. The stderr tail is complete then.
    pub async fn wait(&self) -> Exit {
        life::reach(&mut self.life.clone(), Life::told).await
    }

    /// The last lines of its stderr: [`STDERR_TAIL_BYTES`](crate::STDERR_TAIL_BYTES) at most, as text.
    pub fn stderr_tail(&self) -> String {
        self.ring.lock().tail()
    }

    /// Signals its group.
    ///
    /// # Errors
    /// [`Error::Exited`] when nobody is left in it.
    pub fn signal(&self, signal: Signal) -> Result<(), Error> {
        self.group.signal(signal).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => Error::Exited,
            _ if source.raw_os_error() == Some(libc::ESRCH) => Error::Exited,
            _ => Error::Refused { action: "signal", source },
        })
    }

    /// Whether somebody that it started may still have been there after [`stop`](Self::stop): what waits for a broken disk
    /// cannot be killed, and who may be of another child is not ([`Orphans`](crate::Orphans)).
    pub fn survived(&self) -> bool {
        self.group.survived()
    }

    /// Ends it and everyone it has started: closes its stdin, then TERM to the group, then KILL to whoever is left when
    /// its grace has passed. Returns within the grace and half a second. A ladder that was begun goes on when this
    /// future is dropped, and all callers share it.
    pub async fn stop(&self) -> Exit {
        self.stop_within(self.grace).await
    }

    /// [`stop`](Self::stop)s it with less grace than its own. Whoever stops it first decides.
    pub async fn stop_within(&self, grace: Duration) -> Exit {
        self.stop.send_if_modified(|asked| {
            let first = asked.is_none();
            asked.get_or_insert(grace.min(self.grace));
            first
        });
        life::reach(&mut self.life.clone(), Life::gone).await
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("pid", &self.pid()).field("life", &*self.life.borrow()).finish()
    }
}
