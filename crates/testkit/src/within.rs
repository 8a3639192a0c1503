//! Waits for a condition, with a time limit after which the test fails.

use std::{
    future::Future,
    time::{Duration, Instant},
};

/// Interval between two checks of a condition that can only be polled.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// Waits for `future`.
///
/// The function is not `async` itself, so that `#[track_caller]` reports the line of the test.
///
/// # Panics
/// If the future takes longer than `limit`.
#[track_caller]
pub fn within<F: Future>(limit: Duration, future: F) -> impl Future<Output = F::Output> {
    let caller = std::panic::Location::caller();
    async move {
        match tokio::time::timeout(limit, future).await {
            Ok(value) => value,
            Err(_) => panic!("the future at {caller} did not complete within {limit:?}"),
        }
    }
}

/// Polls `condition` every 2 ms until it returns true. Blocks the thread; for code that is not async.
///
/// # Panics
/// If that takes longer than `limit`.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "the condition can only be polled")]
pub fn within_blocking(limit: Duration, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < limit, "the condition did not hold within {limit:?}");
        std::thread::sleep(POLL_INTERVAL);
    }
}
