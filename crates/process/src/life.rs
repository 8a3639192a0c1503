//! How far a child's life has come: what the supervisor tells and everyone else watches.

use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::DropGuard;

/// How a child ended. Both are `None` when it is not known: it could not be killed, or someone else reaped it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// What it returned, if it returned.
    pub code: Option<i32>,
    /// Which signal ended it, if one did.
    pub signal: Option<i32>,
}

impl Exit {
    /// An end of which nothing is known.
    pub const UNKNOWN: Self = Self { code: None, signal: None };

    /// Whether it returned 0.
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exit code {code}"),
            (None, Some(signal)) => write!(f, "signal {signal}"),
            (None, None) => f.write_str("unknown end"),
        }
    }
}

/// The stages, each of which holds for good once it is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// The leader runs.
    Running,
    /// The leader has exited; its output may still be in the pipes.
    Exited(Exit),
    /// Its stderr is complete too, so its end can be told.
    Told(Exit),
    /// Nobody it started is left.
    Gone(Exit),
}

impl Life {
    pub(crate) fn has_exited(&self) -> bool {
        !matches!(self, Self::Running)
    }

    /// The exit, once it may be told.
    pub(crate) fn told(&self) -> Option<Exit> {
        match self {
            Self::Running | Self::Exited(_) => None,
            Self::Told(exit) | Self::Gone(exit) => Some(*exit),
        }
    }

    pub(crate) fn gone(&self) -> Option<Exit> {
        match self {
            Self::Gone(exit) => Some(*exit),
            _ => None,
        }
    }
}

/// Held by everyone outside who has a use for the child. When the last one drops it, the child is abandoned.
pub(crate) type Hold = Arc<DropGuard>;

/// Waits until `reached` gives an exit. When the runtime that supervised the child is gone, so is the child.
pub(crate) async fn reach(life: &mut watch::Receiver<Life>, reached: fn(&Life) -> Option<Exit>) -> Exit {
    let _ = life.wait_for(|life| reached(life).is_some()).await;
    life.borrow().told().unwrap_or(Exit::UNKNOWN)
}
