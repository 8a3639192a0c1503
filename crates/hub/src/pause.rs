//! How long to wait before a runtime is asked again.

use std::time::Duration;

use tokio::time::sleep;

/// How long to wait before a runtime is asked again: longer each time, and never quite as long as others.
#[derive(Debug)]
pub(crate) struct Pause {
    min: Duration,
    max: Duration,
    next: Duration,
}

impl Pause {
    /// So long at first, and so long at most.
    pub(crate) fn new(min: Duration, max: Duration) -> Self {
        Self { min, max, next: min }
    }

    /// It was heard of.
    pub(crate) fn reset(&mut self) {
        self.next = self.min;
    }

    /// Waits.
    pub(crate) async fn wait(&mut self) {
        sleep(self.next.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
        self.next = (self.next * 2).min(self.max);
    }
}
