//! Bounded waits on facts.

use std::{
    future::Future,
    time::{Duration, Instant},
};

/// How often a fact is looked at that nobody announces.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// The value of `future`, which must come within `limit`.
///
/// # Panics
/// If it does not.
#[track_caller]
pub fn within<F: Future>(limit: Duration, future: F) -> impl Future<Output = F::Output> {
    let caller = std::panic::Location::caller();
    async move {
        match tokio::time::timeout(limit, future).await {
            Ok(value) => value,
            Err(_) => panic!("not within {limit:?}, at {caller}"),
        }
    }
}

/// Waits until `fact` holds, which must be within `limit`.
///
/// # Panics
/// If it does not.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "a fact that nobody announces can only be looked at again")]
pub fn within_blocking(limit: Duration, mut fact: impl FnMut() -> bool) {
    let start = Instant::now();
    while !fact() {
        assert!(start.elapsed() < limit, "not within {limit:?}");
        std::thread::sleep(LOOK_AGAIN);
    }
}
