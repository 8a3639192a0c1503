//! How long to wait before a runtime is asked again.

use std::time::Duration;

use tokio::time::sleep;

/// How long to wait before a runtime is asked again: at first, and at most.
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// How long to wait before a runtime is asked again: longer each time, and never quite as long as others.
#[derive(Debug)]
pub(crate) struct Pause(Duration);

impl Pause {
    pub(crate) fn new() -> Self {
        Self(PAUSE_MIN)
    }

    /// It was heard of.
    pub(crate) fn reset(&mut self) {
        self.0 = PAUSE_MIN;
    }

    /// Waits.
    pub(crate) async fn wait(&mut self) {
        sleep(self.0.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
        self.0 = (self.0 * 2).min(PAUSE_MAX);
    }
}
