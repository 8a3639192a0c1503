//! What the writer thread is asked to do.

use std::{
    ops::RangeInclusive,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::{mpsc, oneshot};

use super::{Error, Note, handle::Shared};
use crate::{Frames, Retention, Seq};

/// How many requests may wait for the writer thread; who comes then waits for a place.
pub const QUEUE_MAX: usize = 4096;

/// The answer to a request.
pub(super) type Reply<T> = oneshot::Sender<Result<T, Error>>;

#[derive(Debug)]
pub(super) enum Request {
    Append(Work),
    Open { name: String, retention: Retention, reply: Reply<Arc<Shared>> },
    Delete { name: String, reply: Reply<bool> },
    Close,
}

/// Frames and notes for one journal. It holds the journal, so that it stays open until they are written.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) journal: Arc<Shared>,
    pub(super) frames: Frames,
    pub(super) notes: Vec<Note>,
    pub(super) reply: Reply<RangeInclusive<Seq>>,
}

/// The way to the writer thread.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    requests: mpsc::Sender<Request>,
    closed: Arc<AtomicBool>,
}

/// Closes the queue: it has a place in it from the start, so that it works however full it is.
#[derive(Debug)]
pub(super) struct Closer {
    place: Option<mpsc::OwnedPermit<Request>>,
    closed: Arc<AtomicBool>,
}

/// A new queue, how to close it, and its end for the writer thread.
pub(super) fn queue() -> (Queue, Closer, mpsc::Receiver<Request>) {
    let (requests, receiver) = mpsc::channel(QUEUE_MAX + 1);
    let closed = Arc::new(AtomicBool::new(false));
    let place = requests.clone().try_reserve_owned().ok();
    (Queue { requests, closed: Arc::clone(&closed) }, Closer { place, closed }, receiver)
}

impl Queue {
    /// Waits for a place, then for the answer.
    pub(super) async fn ask<T>(&self, request: impl FnOnce(Reply<T>) -> Request) -> Result<T, Error> {
        let (reply, answer) = oneshot::channel();
        self.requests.send(request(reply)).await.map_err(|_| self.gone())?;
        answer.await.map_err(|_| self.gone())?
    }

    fn gone(&self) -> Error {
        match self.closed.load(Ordering::Acquire) {
            true => Error::Closed,
            false => Error::Died,
        }
    }
}

impl Closer {
    /// What is queued is still done; what comes later is refused.
    pub(super) fn close(&mut self) {
        self.closed.store(true, Ordering::Release);
        if let Some(place) = self.place.take() {
            place.send(Request::Close);
        }
    }
}
