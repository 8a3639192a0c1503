//! A queue that is bounded in items and in bytes. Who sends into a full one waits.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// How many bytes of items wait in a queue. An item may be as large as all of it.
pub(super) const BYTES_MAX: u32 = 64 << 20;

/// The end that items are put into.
#[derive(Debug)]
pub(super) struct Sender<T> {
    items: mpsc::Sender<Item<T>>,
    room: Arc<Semaphore>,
}

/// The end that items are taken from.
#[derive(Debug)]
pub(super) struct Receiver<T> {
    items: mpsc::Receiver<Item<T>>,
}

/// Something that takes room in the queue until it is dropped.
#[derive(Debug)]
pub(super) struct Item<T> {
    pub(super) value: T,
    _room: OwnedSemaphorePermit,
}

/// Nobody takes items any more.
#[derive(Debug)]
pub(super) struct Closed;

/// A queue of at most so many items, and [`BYTES_MAX`].
pub(super) fn new<T>(items_max: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = mpsc::channel(items_max);
    let room = Arc::new(Semaphore::new(BYTES_MAX as usize));
    (Sender { items: sender, room }, Receiver { items: receiver })
}

impl<T> Sender<T> {
    /// Puts an item of so many bytes into the queue, once there is room.
    pub(super) async fn send(&self, value: T, bytes: usize) -> Result<(), Closed> {
        let bytes = u32::try_from(bytes).unwrap_or(BYTES_MAX).min(BYTES_MAX);
        let room = self.room.clone().acquire_many_owned(bytes).await.map_err(|_| Closed)?;
        self.items.send(Item { value, _room: room }).await.map_err(|_| Closed)
    }

    /// Waits until nobody takes items any more.
    pub(super) async fn closed(&self) {
        self.items.closed().await;
    }
}

impl<T> Receiver<T> {
    /// The next item; `None` once there will be none.
    pub(super) async fn recv(&mut self) -> Option<Item<T>> {
        self.items.recv().await
    }

    /// The next item, if there is one now.
    pub(super) fn try_recv(&mut self) -> Option<Item<T>> {
        self.items.try_recv().ok()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn is_full(queue: &Sender<u32>, bytes: usize) -> bool {
        queue.send(0, bytes).now_or_never().is_none()
    }

    #[tokio::test]
    async fn a_queue_is_full_of_items_or_of_bytes() {
        let (sender, mut receiver) = new(2);
        sender.send(1, 10).await.unwrap();
        sender.send(2, 10).await.unwrap();
        assert!(is_full(&sender, 1));
        assert_eq!(receiver.recv().await.unwrap().value, 1);
        assert!(is_full(&sender, BYTES_MAX as usize), "10 bytes of room are taken");
        let second = receiver.recv().await.unwrap();
        assert!(is_full(&sender, BYTES_MAX as usize), "until what was taken out is dropped");
        drop(second);
        // Larger than everything waits for everything.
        sender.send(3, usize::MAX).await.unwrap();
        assert!(is_full(&sender, 1));
    }
}
