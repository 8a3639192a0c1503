//! The writer of a ring.

use std::{ops::RangeInclusive, sync::Arc, task::Waker, time::Instant};

use super::{packed_frames::FramePacker, segment_pool::SegmentPool, state::RetainedFrames};
use crate::{BatchBuilder, FrameBatch, FrameBuffer, FrameChunk, RingJournal, Seq};

/// Appends to a ring. It never blocks. Dropping it seals the ring permanently.
#[derive(Debug)]
pub struct RingWriter {
    ring: RingJournal,
    next_seq: Seq,
    pub(super) segments: SegmentPool,
    packer: FramePacker,
    /// The end offsets of the frames in the batch that is being encoded.
    pub(super) ends: Vec<u32>,
    /// `wakers` and `evicted` are empty between appends; they are fields so that their allocations are reused.
    wakers: Vec<Waker>,
    evicted: Vec<RetainedFrames>,
}

impl RingWriter {
    pub(super) fn new(ring: RingJournal, next_seq: Seq) -> RingWriter {
        RingWriter {
            ring,
            next_seq,
            segments: SegmentPool::default(),
            packer: FramePacker::default(),
            ends: Vec::new(),
            wakers: Vec::new(),
            evicted: Vec::new(),
        }
    }

    /// The ring that it writes to.
    pub fn ring(&self) -> &RingJournal {
        &self.ring
    }

    /// The number of the next frame.
    pub fn next_seq(&self) -> Seq {
        self.next_seq
    }

    /// Starts a batch of frames that are encoded in place.
    pub fn batch(&mut self) -> BatchBuilder<'_> {
        BatchBuilder::new(self)
    }

    /// Appends encoded frames and returns their numbers (an empty range for no frames).
    pub fn append(&mut self, frames: FrameBuffer) -> RangeInclusive<Seq> {
        if frames.is_empty() {
            return self.next_seq..=self.next_seq.before();
        }
        self.publish(FrameBatch::new(self.next_seq, frames)).range()
    }

    /// Appends a batch, which must be numbered from `next_seq` on, and wakes the waiting readers.
    pub(super) fn publish(&mut self, batch: FrameBatch) -> FrameChunk {
        let batch = Arc::new(batch);
        let chunk = FrameChunk::after(batch.first().before(), Arc::clone(&batch));
        self.next_seq = batch.last().next();
        let mut state = self.ring.shared.state.lock();
        state.push(batch, &mut self.evicted);
        if state.slots.any_waiting() {
            state.slots.take_wakers(&mut self.wakers, Some(Instant::now()));
        }
        drop(state);
        self.evicted.clear();
        self.wakers.drain(..).for_each(Waker::wake);
        chunk
    }

    /// Whether the writer should pause to let readers catch up: true while a reader that took frames less than
    /// [`KEEP_UP_WINDOW`](crate::KEEP_UP_WINDOW) ago is behind by more than half of the retention.
    ///
    /// The caller polls this about every millisecond while it pauses. A stalled reader stops counting after the window.
    /// For a reader that waited for an append, the window starts with that append.
    pub fn should_pause(&self, now: Instant) -> bool {
        self.ring.shared.state.lock().should_pause(now)
    }

    /// Whether [`pack`](RingWriter::pack) has work to do.
    pub fn can_pack(&self) -> bool {
        self.ring.shared.state.lock().can_pack()
    }

    /// Compresses one block of the oldest plain frames and returns whether there are more. A call takes a fraction of a
    /// millisecond; the caller repeats it while it has nothing to append.
    pub fn pack(&mut self) -> bool {
        if !self.can_pack() {
            return false;
        }
        let block = self.ring.shared.state.lock().next_block();
        // The lock is not held while compressing, so readers can go on.
        let packed = self.packer.pack(&block);
        self.ring.shared.state.lock().replace_block(&block, packed, &mut self.evicted);
        drop(block);
        self.evicted.clear();
        let more = self.can_pack();
        if !more {
            self.segments.release_unused();
            self.packer.release_unused();
        }
        more
    }

    /// Marks the journal as complete for now: readers end after the newest frame.
    pub fn seal(&mut self) {
        self.ring.set_sealed(true);
    }

    /// Lets readers wait for further frames again.
    pub fn unseal(&mut self) {
        self.ring.set_sealed(false);
    }
}

impl Drop for RingWriter {
    fn drop(&mut self) {
        self.ring.close();
    }
}
