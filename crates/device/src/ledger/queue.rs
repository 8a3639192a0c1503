//! The entries that wait to be written.

use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use protocol::relay::RelayAuditEntry;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::{RequestMark, Stage, Unwritten};

/// How many entries are written at once; who waits for the first waits for the last.
const BATCH_MAX: usize = 64;

/// How long entries that nobody waits for are gathered: the thread that writes them is then woken for many of them.
const GATHERED_FOR: Duration = Duration::from_millis(5);

/// An entry that waits to be written.
#[derive(Debug)]
pub(super) struct Queued {
    pub(super) entry: Box<RelayAuditEntry>,
    pub(super) stage: Stage,
    pub(super) mark: RequestMark,
    pub(super) written: Option<oneshot::Sender<Result<(), Unwritten>>>,
    /// There are as many as may wait. The end of what was begun needs none: there is one for each running request.
    pub(super) _room: Option<OwnedSemaphorePermit>,
}

/// The entries that wait to be written, in order.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    entries: Vec<Queued>,
    is_closed: bool,
}

/// What there is to write.
pub(super) enum Next {
    /// These, in order.
    Batch(Vec<Queued>),
    /// Nothing, in time.
    Nothing,
    /// Nothing any more.
    Over,
}

impl Queue {
    /// Hands an entry in.
    ///
    /// # Errors
    /// If it is closed.
    pub(super) fn push(&self, queued: Queued) -> Result<(), Unwritten> {
        let mut waiting = self.waiting.lock();
        if waiting.is_closed {
            return Err(Unwritten);
        }
        // Whoever gathers looks again by itself, but for those who wait and for a batch that is full.
        let is_full = waiting.entries.len() + 1 == BATCH_MAX;
        let is_news = waiting.entries.is_empty() || queued.written.is_some() || is_full;
        waiting.entries.push(queued);
        if is_news {
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Nothing is handed in any more.
    pub(super) fn close(&self) {
        self.waiting.lock().is_closed = true;
        self.changed.notify_one();
    }

    /// Waits for entries, at most so long for the first of them.
    pub(super) fn next(&self, patience: Duration) -> Next {
        let mut waiting = self.waiting.lock();
        let is_idle = |waiting: &mut Waiting| waiting.entries.is_empty() && !waiting.is_closed;
        self.changed.wait_while_for(&mut waiting, is_idle, patience);
        let until = Instant::now() + GATHERED_FOR;
        let gathers = |waiting: &mut Waiting| {
            let Waiting { entries, is_closed } = waiting;
            !*is_closed
                && (1..BATCH_MAX).contains(&entries.len())
                && entries.iter().all(|queued| queued.written.is_none())
        };
        self.changed.wait_while_until(&mut waiting, gathers, until);
        match (waiting.entries.len(), waiting.is_closed) {
            (0, true) => Next::Over,
            (0, false) => Next::Nothing,
            (count, _) => Next::Batch(waiting.entries.drain(..count.min(BATCH_MAX)).collect()),
        }
    }
}
