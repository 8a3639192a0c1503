//! The one writer of a ring.

use std::{convert::Infallible, ops::RangeInclusive, sync::Arc, task::Waker, time::Instant};

use super::{packed::Packer, segments::Segments, state::Kept};
use crate::{Append, Batch, BatchBuilder, Chunk, Frames, Ring, Seq};

/// Appends to a ring. It never waits; dropping it seals the ring for good.
#[derive(Debug)]
pub struct Writer {
    ring: Ring,
    next: Seq,
    pub(super) segments: Segments,
    packer: Packer,
    /// Where the frames of the batch that is being rendered end.
    pub(super) ends: Vec<u32>,
    /// These two are empty between appends, and kept for their memory.
    wakers: Vec<Waker>,
    gone: Vec<Kept>,
}

impl Writer {
    pub(super) fn new(ring: Ring, next: Seq) -> Writer {
        Writer {
            ring,
            next,
            segments: Segments::default(),
            packer: Packer::default(),
            ends: Vec::new(),
            wakers: Vec::new(),
            gone: Vec::new(),
        }
    }

    /// The ring it writes to.
    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// The number of the frame that is appended next.
    pub fn next_seq(&self) -> Seq {
        self.next
    }

    /// Begins a batch of frames that are rendered in place.
    pub fn batch(&mut self) -> BatchBuilder<'_> {
        BatchBuilder::new(self)
    }

    /// Appends frames that are there already and answers with their numbers (an empty range for none).
    pub fn append(&mut self, frames: Frames) -> RangeInclusive<Seq> {
        if frames.is_empty() {
            return self.next..=self.next.before();
        }
        self.publish(Batch::new(self.next, frames)).range()
    }

    /// Appends a batch that is numbered from `next` on, and wakes who waits for it.
    pub(super) fn publish(&mut self, batch: Batch) -> Chunk {
        let batch = Arc::new(batch);
        let chunk = Chunk::after(batch.first().before(), Arc::clone(&batch));
        self.next = batch.last().next();
        let mut state = self.ring.shared.state.lock();
        state.push(batch, &mut self.gone);
        if state.slots.waiting() {
            state.slots.take_wakers(&mut self.wakers, Some(Instant::now()));
        }
        drop(state);
        self.gone.clear();
        self.wakers.drain(..).for_each(Waker::wake);
        chunk
    }

    /// Whether the writer should pause, because a reader that keeps up would otherwise lose frames: true while some
    /// reader that moved less than [`MOVING`](crate::MOVING) ago is more than half of the retention behind.
    ///
    /// The caller looks again every millisecond or so. A reader that is stalled stops counting after `MOVING`; one
    /// that waited for an append counts as moving when it comes.
    pub fn pressed(&self, now: Instant) -> bool {
        self.ring.shared.state.lock().pressed(now)
    }

    /// Whether there is enough to [`pack`](Writer::pack).
    pub fn packable(&self) -> bool {
        self.ring.shared.state.lock().packable()
    }

    /// Packs some of the oldest frames that are not packed yet, and answers whether there are more. It takes a fraction of a
    /// millisecond: it is to be called again and again while nothing is appended.
    pub fn pack(&mut self) -> bool {
        if !self.packable() {
            return false;
        }
        let block = self.ring.shared.state.lock().next_block();
        let packed = self.packer.pack(&block);
        self.ring.shared.state.lock().pack(&block, packed, &mut self.gone);
        drop(block);
        self.gone.clear();
        let more = self.packable();
        if !more {
            self.segments.forget_free();
            self.packer.forget_free();
        }
        more
    }

    /// Nothing more is to come for now: a reader that has read everything is at the end.
    pub fn seal(&mut self) {
        self.ring.set_sealed(true);
    }

    /// More may come again: new reads wait for it.
    pub fn unseal(&mut self) {
        self.ring.set_sealed(false);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.ring.close();
    }
}

impl Append for Writer {
    type Error = Infallible;

    async fn append(&mut self, frames: Frames) -> Result<RangeInclusive<Seq>, Infallible> {
        Ok(Writer::append(self, frames))
    }

    fn seal(&mut self) {
        Writer::seal(self);
    }

    fn unseal(&mut self) {
        Writer::unseal(self);
    }
}
