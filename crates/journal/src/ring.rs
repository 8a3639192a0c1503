//! The journal in memory: bounded in events and bytes, one writer, any number of readers.
//!
//! One lock guards the batches and one slot per reader; it is held for a few lines and never across an await. Readers
//! share the batches, so a delivery is a reference and a slice. Wakers run and memory is freed outside the lock. When
//! the writer rests, old batches are packed; a reader that replays them unpacks its own.

mod builder;
mod packed;
mod reader;
mod segments;
mod slots;
mod state;
mod writer;

use std::sync::Arc;

use parking_lot::Mutex;

pub use builder::BatchBuilder;
pub use reader::Reader;
pub use segments::SEGMENT_BYTES;
pub use slots::MOVING;
pub use writer::Writer;

use crate::{Bounds, Cursor, Epoch, Error, Journal, Retention, Seq, Start};
use slots::Slot;
use state::State;

/// The reading side of a journal in memory; clones are handles to the same journal.
#[derive(Debug, Clone)]
pub struct Ring {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    epoch: Epoch,
    state: Mutex<State>,
}

impl Ring {
    /// A new, empty journal of a new epoch, and the one writer it will ever have.
    pub fn new(retention: Retention) -> (Writer, Ring) {
        Ring::resume(Epoch::random(), Seq::ZERO, retention)
    }

    /// A ring whose next frame follows `newest`: the tail of a journal that is kept elsewhere.
    pub(crate) fn resume(epoch: Epoch, newest: Seq, retention: Retention) -> (Writer, Ring) {
        let ring =
            Ring { shared: Arc::new(Shared { epoch, state: Mutex::new(State::new(newest, retention)) }) };
        (Writer::new(ring.clone(), newest.next()), ring)
    }

    pub(crate) fn epoch(&self) -> Epoch {
        self.shared.epoch
    }

    /// What it holds now.
    pub fn bounds(&self) -> Bounds {
        self.shared.state.lock().bounds(self.shared.epoch)
    }

    /// The position `seq` in the current epoch.
    pub fn cursor(&self, seq: Seq) -> Cursor {
        Cursor { epoch: self.shared.epoch, seq }
    }

    /// How many readers are open.
    pub fn readers(&self) -> usize {
        self.shared.state.lock().slots.len()
    }

    /// A reader from `from` on: replay and live tail in one.
    ///
    /// # Errors
    /// For [`Start::After`]: [`Error::Unknown`] and [`Error::Expired`]. The other starts always succeed.
    pub fn reader(&self, from: Start) -> Result<Reader, Error> {
        let mut state = self.shared.state.lock();
        let (position, gap) = crate::error::place(&state.bounds(self.shared.epoch), from)?;
        let read = state.bytes_through(position);
        let key = state.slots.insert(Slot::new(position, read, gap));
        drop(state);
        Ok(Reader::new(self.clone(), key))
    }

    /// A reader at `position`, wherever that is: before the ring it begins with a gap, beyond it waits.
    pub(crate) fn reader_at(&self, position: Seq) -> Reader {
        let mut state = self.shared.state.lock();
        let read = state.bytes_through(position);
        let key = state.slots.insert(Slot::new(position, read, false));
        drop(state);
        Reader::new(self.clone(), key)
    }

    /// Whether a reader that has read everything is at the end.
    pub(crate) fn set_sealed(&self, sealed: bool) {
        self.settle(|state| state.sealed = sealed);
    }

    /// Seals it for good.
    fn close(&self) {
        self.settle(|state| state.closed = true);
    }

    fn settle(&self, change: impl FnOnce(&mut State)) {
        let mut wakers = Vec::new();
        let mut state = self.shared.state.lock();
        change(&mut state);
        state.slots.take_wakers(&mut wakers, None);
        drop(state);
        wakers.into_iter().for_each(std::task::Waker::wake);
    }
}

impl Journal for Ring {
    type Reader = Reader;

    fn bounds(&self) -> Bounds {
        Ring::bounds(self)
    }

    fn cursor(&self, seq: Seq) -> Cursor {
        Ring::cursor(self, seq)
    }

    fn readers(&self) -> usize {
        Ring::readers(self)
    }

    fn reader(&self, from: Start) -> Result<Reader, Error> {
        Ring::reader(self, from)
    }
}

#[cfg(test)]
mod tests;
