//! A queue that is bounded in items and in bytes. Sending to a full queue waits.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// How many bytes may wait in a queue. As large as the largest ACP message, so that every message fits.
pub(super) const BYTES_MAX: u32 = 64 << 20;

/// The sending end.
#[derive(Debug)]
pub(super) struct QueueSender<T> {
    items: mpsc::Sender<QueueItem<T>>,
    room: Arc<Semaphore>,
}

/// The receiving end.
#[derive(Debug)]
pub(super) struct QueueReceiver<T> {
    items: mpsc::Receiver<QueueItem<T>>,
}

/// A received item. It counts against the limits of the queue until it is dropped.
#[derive(Debug)]
pub(super) struct QueueItem<T> {
    pub(super) value: T,
    _room: OwnedSemaphorePermit,
}

/// The receiver is gone.
#[derive(Debug)]
pub(super) struct QueueClosed;

/// Creates a queue of at most `items_max` items and [`BYTES_MAX`] bytes.
pub(super) fn bounded_queue<T>(items_max: usize) -> (QueueSender<T>, QueueReceiver<T>) {
    let (sender, receiver) = mpsc::channel(items_max);
    let room = Arc::new(Semaphore::new(BYTES_MAX as usize));
    (QueueSender { items: sender, room }, QueueReceiver { items: receiver })
}

impl<T> QueueSender<T> {
    /// Sends an item that counts as `bytes`, as soon as there is room.
    pub(super) async fn send(&self, value: T, bytes: usize) -> Result<(), QueueClosed> {
        let bytes = u32::try_from(bytes).unwrap_or(BYTES_MAX).min(BYTES_MAX);
        let room = self.room.clone().acquire_many_owned(bytes).await.map_err(|_| QueueClosed)?;
        self.items.send(QueueItem { value, _room: room }).await.map_err(|_| QueueClosed)
    }

    /// Waits until the receiver is gone.
    pub(super) async fn closed(&self) {
        self.items.closed().await;
    }
}

impl<T> QueueReceiver<T> {
    /// The next item; `None` when the sender is gone.
    pub(super) async fn recv(&mut self) -> Option<QueueItem<T>> {
        self.items.recv().await
    }

    /// The next item, if one is waiting.
    pub(super) fn try_recv(&mut self) -> Option<QueueItem<T>> {
        self.items.try_recv().ok()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn is_full(queue: &QueueSender<u32>, bytes: usize) -> bool {
        queue.send(0, bytes).now_or_never().is_none()
    }

    #[tokio::test]
    async fn a_queue_is_full_of_items_or_of_bytes() {
        let (sender, mut receiver) = bounded_queue(2);
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
