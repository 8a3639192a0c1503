//! Idle eviction: something is kept while it has subscribers, and for a while after the last one has left.
//!
//! A [`SubscriberCount`] hands out a [`Subscription`] to each. The owner waits with [`SubscriberCount::close_when_idle`]
//! and then evicts: from that moment on `subscribe` returns `None`, so no subscriber loses what it has just found. An owner
//! that starts again instead of closing uses [`SubscriberCount::wait_until_idle`], and looks again under its own lock.

use std::{sync::Arc, time::Duration};

use tokio::{sync::watch, time::timeout};

/// Counts subscribers. Clones share the count.
#[derive(Debug, Clone, Default)]
pub struct SubscriberCount(Arc<watch::Sender<Count>>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    now: usize,
    /// How many there have ever been, so that one that came and left between two looks is noticed.
    ever: u64,
    closed: bool,
}

/// Counts as one subscriber until it is dropped.
#[derive(Debug)]
pub struct Subscription(SubscriberCount);

impl SubscriberCount {
    /// Adds a subscriber; `None` once the count is closed.
    #[must_use]
    pub fn subscribe(&self) -> Option<Subscription> {
        let subscribed = self.0.send_if_modified(|count| {
            if !count.closed {
                count.now += 1;
                count.ever += 1;
            }
            !count.closed
        });
        subscribed.then(|| Subscription(self.clone()))
    }

    /// How many subscribers there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.borrow().now
    }

    /// Whether there is no subscriber.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until there has been no subscriber for `idle`.
    pub async fn wait_until_idle(&self, idle: Duration) {
        self.idle_count(idle).await;
    }

    /// Waits until there has been no subscriber for `idle`, and closes the count in that moment.
    pub async fn close_when_idle(&self, idle: Duration) {
        loop {
            let seen = self.idle_count(idle).await;
            // A subscriber may have come since the wait ended; then the wait starts over.
            let closed = self.0.send_if_modified(|count| {
                let unchanged = *count == seen;
                count.closed |= unchanged;
                unchanged
            });
            if closed {
                return;
            }
        }
    }

    /// The count after it was zero and unchanged for `idle`.
    async fn idle_count(&self, idle: Duration) -> Count {
        let mut counts = self.0.subscribe();
        loop {
            let seen = *counts.borrow_and_update();
            // Waiting for a change cannot fail: we hold the sender.
            if seen.now == 0 {
                if timeout(idle, counts.changed()).await.is_err() {
                    return seen;
                }
            } else {
                let _ = counts.changed().await;
            }
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| count.now -= 1);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;

    const IDLE: Duration = Duration::from_secs(10);

    /// Whether the count is closed within so many seconds.
    async fn closes_within(count: &SubscriberCount, seconds: u64) -> bool {
        timeout(Duration::from_secs(seconds), count.close_when_idle(IDLE)).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_count_closes_when_the_last_subscriber_has_been_gone_for_long_enough() {
        let count = SubscriberCount::default();
        assert!(!closes_within(&count, 9).await);
        let one = count.subscribe().unwrap();
        let two = count.subscribe().unwrap();
        assert_eq!(count.len(), 2);
        assert!(!closes_within(&count, 1000).await);
        drop(one);
        assert!(!closes_within(&count, 1000).await);
        drop(two);
        assert!(closes_within(&count, 11).await);
        assert!(count.subscribe().is_none());
        assert!(count.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_subscriber_that_comes_and_leaves_restarts_the_wait() {
        let count = SubscriberCount::default();
        let mut closed = pin!(count.close_when_idle(IDLE));
        for _ in 0..3 {
            assert!(timeout(Duration::from_secs(9), &mut closed).await.is_err());
            drop(count.subscribe().unwrap());
        }
        assert!(timeout(Duration::from_secs(11), closed).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_alone_does_not_close_the_count() {
        let count = SubscriberCount::default();
        count.wait_until_idle(IDLE).await;
        assert!(count.subscribe().is_some());
    }
}
