//! The timers of a connection.
//!
//! Each request sets a timer and removes it when it is answered, so both must be cheap and a timer must be found by what its
//! owner knows already: its deadline and its purpose. `tokio_util::time::DelayQueue` would need a key to be kept with each
//! call for its removal, rounds to milliseconds, and panics on deadlines more than two years ahead. A sorted set and one
//! `Sleep` do the same without that.

use std::{collections::BTreeSet, future::pending, pin::Pin};

use tokio::time::{Instant, Sleep, sleep_until};

/// Timers by deadline, and one `Sleep` for the first of them.
pub(super) struct Timers {
    set: BTreeSet<(Instant, Timer)>,
    sleep: Pin<Box<Sleep>>,
}

/// The purpose of a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// The handshake has not finished.
    Hello,
    /// The next heartbeat is due.
    Heartbeat,
    /// A request of this side, or the response to its cancellation, takes too long.
    Call(u64),
    /// A request of the peer has not ended in time after its cancellation.
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

    /// Waits for the next timer that is due, and removes it. Cancel safe.
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
