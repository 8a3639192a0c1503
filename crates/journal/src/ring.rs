//! The journal in memory: bounded in events and bytes, one writer, any number of readers.
//!
//! One lock guards the batches and one [slot](reader_slots) per reader. It is held for a few lines and never across an
//! await. A reader takes a reference to a batch under the lock and slices it afterwards, so a delivery copies nothing.
//! Wakers run, and memory is freed, only after the lock is released: dropping or waking a task may drop its readers,
//! which take the same lock.
//!
//! While the writer is idle, old batches are compressed. A reader that replays them decompresses its own copy.

mod batch_builder;
mod packed_frames;
mod reader;
mod reader_slots;
mod segment_pool;
mod state;
mod writer;

use std::sync::Arc;

use parking_lot::Mutex;

pub use batch_builder::BatchBuilder;
pub use reader::RingReader;
pub use reader_slots::KEEP_UP_WINDOW;
pub use segment_pool::SEGMENT_BYTES;
pub use writer::RingWriter;

use crate::{Cursor, Epoch, Error, JournalBounds, Retention, Seq, StartPosition};
use state::RingState;

/// The reading side of a journal in memory; clones are handles to the same journal.
#[derive(Debug, Clone)]
pub struct RingJournal {
    shared: Arc<SharedRing>,
}

#[derive(Debug)]
struct SharedRing {
    epoch: Epoch,
    state: Mutex<RingState>,
}

impl RingJournal {
    /// Creates an empty journal with a new epoch, and its only writer.
    pub fn new(retention: Retention) -> (RingWriter, RingJournal) {
        RingJournal::resume(Epoch::random(), Seq::ZERO, retention)
    }

    /// Creates a ring whose next frame follows `newest`: the in-memory tail of a journal that is stored elsewhere.
    pub(crate) fn resume(epoch: Epoch, newest: Seq, retention: Retention) -> (RingWriter, RingJournal) {
        let state = Mutex::new(RingState::new(newest, retention));
        let ring = RingJournal { shared: Arc::new(SharedRing { epoch, state }) };
        (RingWriter::new(ring.clone(), newest.next()), ring)
    }

    pub(crate) fn epoch(&self) -> Epoch {
        self.shared.epoch
    }

    /// The frames it holds now.
    pub fn bounds(&self) -> JournalBounds {
        self.shared.state.lock().bounds(self.shared.epoch)
    }

    /// The cursor for the position `seq` in the current epoch.
    pub fn cursor(&self, seq: Seq) -> Cursor {
        Cursor { epoch: self.shared.epoch, seq }
    }

    /// The number of open readers.
    pub fn readers(&self) -> usize {
        self.shared.state.lock().slots.len()
    }

    /// Opens a reader that replays from `start` and then follows new appends.
    ///
    /// # Errors
    /// For [`StartPosition::After`]: [`Error::Unknown`] and [`Error::Expired`]. The other start positions always succeed.
    pub fn reader(&self, start: StartPosition) -> Result<RingReader, Error> {
        // Checking the bounds and registering the reader happen under one lock: no frame is evicted in between.
        let mut state = self.shared.state.lock();
        let start = start.resolve(&state.bounds(self.shared.epoch))?;
        let key = state.insert_reader(start.position, start.gap_pending);
        drop(state);
        Ok(RingReader::new(self.clone(), key))
    }

    /// Opens a reader at any position: before the oldest frame it starts with a gap, beyond the newest it waits.
    pub(crate) fn reader_at(&self, position: Seq) -> RingReader {
        let key = self.shared.state.lock().insert_reader(position, false);
        RingReader::new(self.clone(), key)
    }

    /// Sets whether readers end after the newest frame instead of waiting for more.
    pub(crate) fn set_sealed(&self, sealed: bool) {
        self.update_and_wake(|state| state.sealed = sealed);
    }

    /// Seals the ring permanently.
    fn close(&self) {
        self.update_and_wake(|state| state.closed = true);
    }

    fn update_and_wake(&self, update: impl FnOnce(&mut RingState)) {
        let mut wakers = Vec::new();
        let mut state = self.shared.state.lock();
        update(&mut state);
        state.slots.take_wakers(&mut wakers, None);
        drop(state);
        wakers.into_iter().for_each(std::task::Waker::wake);
    }
}

#[cfg(test)]
mod tests;
