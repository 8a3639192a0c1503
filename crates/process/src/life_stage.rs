//! The life stages of a child, which its supervisor publishes.

use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::DropGuard;

/// How a child ended. Both fields are `None` if that is unknown: it could not be killed, or was reaped elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildExit {
    /// Its exit code, if it exited.
    pub code: Option<i32>,
    /// The signal that killed it, if one did.
    pub signal: Option<i32>,
}

impl ChildExit {
    /// Nothing is known about the end.
    pub const UNKNOWN: Self = Self { code: None, signal: None };

    /// Whether the exit code is 0.
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }
}

impl fmt::Display for ChildExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exit code {code}"),
            (None, Some(signal)) => write!(f, "signal {signal}"),
            (None, None) => f.write_str("unknown exit status"),
        }
    }
}

/// The life stages, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LifeStage {
    /// The child runs.
    Running,
    /// The child has exited; pipes may still contain output.
    Exited(ChildExit),
    /// Its stderr is complete as well, so the exit is reported to callers.
    Reported(ChildExit),
    /// None of its descendants is left.
    Gone(ChildExit),
}

impl LifeStage {
    pub(crate) fn has_exited(&self) -> bool {
        !matches!(self, Self::Running)
    }

    /// The exit, as soon as it is known.
    pub(crate) fn known_exit(&self) -> Option<ChildExit> {
        match self {
            Self::Running => None,
            Self::Exited(exit) | Self::Reported(exit) | Self::Gone(exit) => Some(*exit),
        }
    }

    /// The exit, once it is reported to callers.
    pub(crate) fn reported_exit(&self) -> Option<ChildExit> {
        match self {
            Self::Running | Self::Exited(_) => None,
            Self::Reported(exit) | Self::Gone(exit) => Some(*exit),
        }
    }

    /// The exit, once no descendant is left.
    pub(crate) fn gone_exit(&self) -> Option<ChildExit> {
        match self {
            Self::Gone(exit) => Some(*exit),
            _ => None,
        }
    }
}

/// Held by all handles of a child. When the last one is dropped, the child is abandoned and its group killed.
pub(crate) type AliveGuard = Arc<DropGuard>;

/// Waits until `stage` yields an exit. If the supervisor's runtime has shut down, the child is gone too.
pub(crate) async fn wait_for_exit(
    life: &mut watch::Receiver<LifeStage>,
    stage: fn(&LifeStage) -> Option<ChildExit>,
) -> ChildExit {
    let _ = life.wait_for(|life| stage(life).is_some()).await;
    life.borrow().reported_exit().unwrap_or(ChildExit::UNKNOWN)
}
