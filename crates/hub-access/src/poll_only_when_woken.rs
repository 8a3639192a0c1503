//! Waiting for a rare event beside a frequent one.

use std::future::pending;

use futures_util::{StreamExt, stream::FuturesUnordered};

/// Polls the future only when it was woken itself. A task that also waits for events is woken for each of them, and would
/// otherwise poll the shared state behind this future each time, which takes a lock that all viewers contend for. Cancel
/// safe if the future is.
pub(crate) async fn poll_only_when_woken<F: Future>(future: F) -> F::Output {
    let mut alone = FuturesUnordered::from_iter([future]);
    match alone.next().await {
        Some(output) => output,
        // The set holds one future, which has not completed before.
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, future::poll_fn, task::Poll};

    use super::*;

    #[tokio::test]
    async fn a_future_is_polled_only_when_it_was_woken() {
        let polls = Cell::new(0);
        let never = poll_only_when_woken(poll_fn(|_| {
            polls.set(polls.get() + 1);
            Poll::<()>::Pending
        }));
        let often = async {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            () = never => {}
            () = often => {}
        }
        assert_eq!(polls.get(), 1);
        assert_eq!(poll_only_when_woken(async { 7 }).await, 7);
    }
}
