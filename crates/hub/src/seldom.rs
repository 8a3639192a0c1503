//! Waiting for what seldom happens beside what often does.

use std::future::pending;

use futures_util::{StreamExt, stream::FuturesUnordered};

/// Waits for it, and looks at it again only when it says so itself. Whoever waits for an event beside it is woken for each, and
/// would otherwise look at what all share each time, which takes a lock. Cancel safe if the future is.
pub(crate) async fn seldom<F: Future>(future: F) -> F::Output {
    let mut alone = FuturesUnordered::from_iter([future]);
    match alone.next().await {
        Some(output) => output,
        // There is one, and it comes once.
        None => pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, future::poll_fn, task::Poll};

    use super::*;

    /// However often the task is woken for something else, it is looked at once.
    #[tokio::test]
    async fn it_is_looked_at_only_when_it_was_woken() {
        let looked_at = Cell::new(0);
        let never = seldom(poll_fn(|_| {
            looked_at.set(looked_at.get() + 1);
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
        assert_eq!(looked_at.get(), 1);
        assert_eq!(seldom(async { 7 }).await, 7);
    }
}
