//! What is to happen later.

use std::{collections::BTreeSet, future::pending, pin::Pin};

use tokio::time::{Instant, Sleep, sleep_until};

/// What is to happen later, in order.
pub(super) struct Timers {
    set: BTreeSet<(Instant, Timer)>,
    sleep: Pin<Box<Sleep>>,
}

/// What for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// Whoever comes has not been accepted.
    Hello,
    /// The other side is asked whether it is there.
    Heartbeat,
    /// A request of this side took too long, or to be answered once it was cancelled.
    Call(u64),
    /// A request of the other side was cancelled and goes on.
    Grace(u64),
}

impl Timers {
    pub(super) fn new() -> Self {
        Self { set: BTreeSet::new(), sleep: Box::pin(sleep_until(Instant::now())) }
    }

    pub(super) fn set(&mut self, at: Instant, timer: Timer) {
        self.set.insert((at, timer));
    }

    pub(super) fn unset(&mut self, at: Instant, timer: Timer) {
        self.set.remove(&(at, timer));
    }

    /// The next one that is due, once it is.
    pub(super) async fn next(&mut self) -> Timer {
        let Some(&(at, timer)) = self.set.first() else { return pending().await };
        if self.sleep.deadline() != at {
            self.sleep.as_mut().reset(at);
        }
        self.sleep.as_mut().await;
        self.set.pop_first();
        timer
    }
}
