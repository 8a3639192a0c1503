//! The queue of requests to the writer thread.

use std::{
    ops::RangeInclusive,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::{mpsc, oneshot};

use super::{Error, RecordUpdate, journal::JournalView};
use crate::{FrameBuffer, Retention, Seq};

/// The capacity of the queue. When it is full, callers wait until the writer thread takes requests out.
pub const QUEUE_MAX: usize = 4096;

/// Receives the result of a request.
pub(super) type ReplySender<T> = oneshot::Sender<Result<T, Error>>;

#[derive(Debug)]
pub(super) enum WriterRequest {
    Append(AppendRequest),
    Open { name: String, retention: Retention, reply: ReplySender<Arc<JournalView>> },
    Delete { name: String, reply: ReplySender<bool> },
    Close,
}

/// Frames and record changes for one journal. It holds the journal, so that it stays open until they are written.
#[derive(Debug)]
pub(super) struct AppendRequest {
    pub(super) journal: Arc<JournalView>,
    pub(super) frames: FrameBuffer,
    pub(super) records: Vec<RecordUpdate>,
    pub(super) reply: ReplySender<RangeInclusive<Seq>>,
}

/// The sending side of the queue.
#[derive(Debug, Clone)]
pub(super) struct WriterQueue {
    requests: mpsc::Sender<WriterRequest>,
    closed: Arc<AtomicBool>,
}

/// Closes the queue. It reserves a place in the queue from the start, so that closing never waits behind a full queue.
#[derive(Debug)]
pub(super) struct QueueCloser {
    permit: Option<mpsc::OwnedPermit<WriterRequest>>,
    closed: Arc<AtomicBool>,
}

/// Creates a queue, its closer, and the receiver for the writer thread.
pub(super) fn queue() -> (WriterQueue, QueueCloser, mpsc::Receiver<WriterRequest>) {
    let (requests, receiver) = mpsc::channel(QUEUE_MAX + 1);
    let closed = Arc::new(AtomicBool::new(false));
    let permit = requests.clone().try_reserve_owned().ok();
    (WriterQueue { requests, closed: Arc::clone(&closed) }, QueueCloser { permit, closed }, receiver)
}

impl WriterQueue {
    /// Waits for a place in the queue, then for the result.
    pub(super) async fn request<T>(
        &self,
        request: impl FnOnce(ReplySender<T>) -> WriterRequest,
    ) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        self.requests.send(request(reply)).await.map_err(|_| self.disconnected())?;
        answer.await.map_err(|_| self.disconnected())?
    }

    fn disconnected(&self) -> Error {
        if self.closed.load(Ordering::Acquire) { Error::Closed } else { Error::Died }
    }
}

impl QueueCloser {
    /// Queued requests are still processed; later ones fail with [`Error::Closed`].
    pub(super) fn close(&mut self) {
        self.closed.store(true, Ordering::Release);
        if let Some(permit) = self.permit.take() {
            permit.send(WriterRequest::Close);
        }
    }
}
