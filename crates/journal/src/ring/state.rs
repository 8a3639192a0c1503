//! The state behind the ring's lock: which frames are retained and which of them a reader gets next.

use std::{collections::VecDeque, sync::Arc, time::Instant};

use crate::{
    Epoch, FrameBatch, Gap, JournalBounds, Retention, Seq,
    ring::{
        packed_frames::{BLOCK_BYTES, BLOCK_BYTES_MAX, PackedFrames, StoredFrames},
        reader_slots::{ReaderMove, ReaderSlot, ReaderSlots, SlotKey},
    },
};

#[derive(Debug)]
pub(super) struct RingState {
    retention: Retention,
    /// Consecutive runs of frames, oldest first.
    retained: VecDeque<RetainedFrames>,
    newest: Seq,
    /// The bytes ever appended.
    appended_bytes: u64,
    /// The packer has finished with all runs that start before this byte: it packed them, or found that packing does
    /// not pay.
    packed_through: u64,
    /// Readers end after the newest frame instead of waiting.
    pub(super) sealed: bool,
    /// The writer was dropped: sealed permanently.
    pub(super) closed: bool,
    pub(super) slots: ReaderSlots,
}

/// A run of frames and its place among all bytes ever appended. Distances in bytes are differences of such places, so
/// that no counter has to be kept up to date when frames are evicted.
#[derive(Debug)]
pub(super) struct RetainedFrames {
    frames: StoredFrames,
    /// The bytes that were appended before this run.
    start: u64,
}

impl RetainedFrames {
    fn end(&self) -> u64 {
        self.start + self.frames.byte_len() as u64
    }
}

/// The next item of a reader, before decompression.
pub(super) enum NextRead {
    Gap(Gap),
    /// The part of `frames` after `position`.
    Frames {
        position: Seq,
        frames: StoredFrames,
    },
}

impl RingState {
    pub(super) fn new(newest: Seq, retention: Retention) -> RingState {
        RingState {
            retention,
            retained: VecDeque::new(),
            newest,
            appended_bytes: 0,
            packed_through: 0,
            sealed: false,
            closed: false,
            slots: ReaderSlots::default(),
        }
    }

    pub(super) fn bounds(&self, epoch: Epoch) -> JournalBounds {
        let oldest = self.oldest_readable();
        JournalBounds {
            epoch,
            oldest,
            newest: self.newest,
            events: self.newest.since(oldest.before()),
            bytes: self.retained.front().map_or(0, |front| self.appended_bytes - front.start),
        }
    }

    /// The oldest frame for new readers and gaps. Eviction removes whole runs, but the limit in events is exact: of the
    /// oldest run only the frames within the limit count.
    fn oldest_readable(&self) -> Seq {
        let Some(front) = self.retained.front() else { return self.newest.next() };
        let beyond_limit = self.newest.get().saturating_sub(self.retention.events.get());
        front.frames.first().max(Seq::new(beyond_limit).next())
    }

    /// The oldest frame in memory. A reader that is already positioned there may read it although it lies beyond the
    /// limit in events; otherwise a batch with more frames than the limit would cause a gap for every reader.
    fn oldest_in_memory(&self) -> Seq {
        self.retained.front().map_or(self.newest.next(), |front| front.frames.first())
    }

    /// Adds a batch and moves evicted runs to `evicted`, which the caller frees after releasing the lock.
    pub(super) fn push(&mut self, batch: Arc<FrameBatch>, evicted: &mut Vec<RetainedFrames>) {
        debug_assert_eq!(batch.first(), self.newest.next());
        let start = self.appended_bytes;
        self.newest = batch.last();
        self.appended_bytes += batch.byte_len() as u64;
        self.retained.push_back(RetainedFrames { frames: StoredFrames::Plain(batch), start });
        let oldest = self.oldest_readable();
        // The last batch stays whatever its size: a line larger than the ring must reach the readers that wait for it.
        while self.retained.len() > 1
            && let Some(front) = self.retained.front()
            && (front.frames.last() < oldest
                || self.appended_bytes - front.start > self.retention.bytes.get())
        {
            evicted.extend(self.retained.pop_front());
        }
    }

    /// The run that contains the frame after `position`, or the next one after it.
    fn run_after(&self, position: Seq) -> Option<&RetainedFrames> {
        // Readers that keep up need the last run: check it before the binary search.
        if let Some(last) = self.retained.back()
            && last.frames.first() <= position.next()
        {
            return (last.frames.last() > position).then_some(last);
        }
        let index = self.retained.partition_point(|run| run.frames.last() <= position);
        self.retained.get(index)
    }

    /// The bytes ever appended up to and including the frame at `position`. For an evicted position: up to the oldest
    /// run.
    pub(super) fn bytes_through(&self, position: Seq) -> u64 {
        self.run_after(position)
            .map_or(self.appended_bytes, |run| run.start + run.frames.offset_after(position) as u64)
    }

    pub(super) fn insert_reader(&mut self, position: Seq, gap_pending: bool) -> SlotKey {
        let read_bytes = self.bytes_through(position);
        self.slots.insert(ReaderSlot::new(position, read_bytes, gap_pending))
    }

    /// Moves the reader `key` forward and returns its next item; `None` if it has read everything.
    pub(super) fn advance_reader(&mut self, key: SlotKey, now: Instant) -> Option<NextRead> {
        let oldest_in_memory = self.oldest_in_memory();
        let slot = self.slots.get_mut(key)?;
        if slot.gap_pending || slot.position.next() < oldest_in_memory {
            slot.gap_pending = false;
            return Some(NextRead::Gap(self.skip_to_oldest(key, now)));
        }
        let position = slot.position;
        if position >= self.newest {
            return None;
        }
        let run = self.run_after(position)?;
        let frames = run.frames.clone();
        let step = ReaderMove {
            taken_bytes: frames.byte_len() - frames.offset_after(position),
            position: frames.last(),
            read_bytes: run.end(),
            at: now,
        };
        self.slots.record_move(key, &step);
        Some(NextRead::Frames { position, frames })
    }

    fn skip_to_oldest(&mut self, key: SlotKey, now: Instant) -> Gap {
        let oldest = self.oldest_readable();
        let position = oldest.before();
        let read_bytes = self.bytes_through(position);
        self.slots.record_move(key, &ReaderMove { taken_bytes: 0, position, read_bytes, at: now });
        Gap { oldest, newest: self.newest }
    }

    /// Whether a full block of frames waits for the packer.
    pub(super) fn can_pack(&self) -> bool {
        let oldest = self.retained.front().map_or(self.appended_bytes, |front| front.start);
        let unpacked = self.appended_bytes - self.packed_through.max(oldest);
        unpacked >= BLOCK_BYTES && self.block_bytes_max() >= BLOCK_BYTES
    }

    /// The maximum size of a packed block. Eviction removes a block as a whole, so it must stay small compared to the
    /// ring: a block that reaches from the oldest frame to the middle of the ring would take frames away from readers
    /// that keep up.
    fn block_bytes_max(&self) -> u64 {
        BLOCK_BYTES_MAX.min(self.retention.bytes.get() / 4)
    }

    /// The oldest batches to pack together; empty when there are not enough bytes for a block.
    pub(super) fn next_block(&mut self) -> Vec<Arc<FrameBatch>> {
        let mut block = Vec::new();
        let mut block_bytes = 0;
        let bytes_max = self.block_bytes_max();
        let first = self.retained.partition_point(|run| run.start < self.packed_through);
        for run in self.retained.range(first..) {
            let size = run.frames.byte_len() as u64;
            match &run.frames {
                StoredFrames::Plain(batch) if block_bytes + size <= bytes_max => {
                    block.push(Arc::clone(batch))
                }
                // A batch that is too large stays plain and ends the block; skip it if it is the first.
                _ if block.is_empty() => self.packed_through = run.end(),
                _ => return block,
            }
            block_bytes += size;
            if block_bytes >= BLOCK_BYTES {
                return block;
            }
        }
        Vec::new()
    }

    /// Replaces the batches of `block` by their packed form and moves them to `replaced`. With `None` (packing does not
    /// pay) they stay, and are not considered again.
    ///
    /// The lock was released while the block was compressed. Only the writer evicts, and it was busy packing, so the
    /// batches are still there.
    pub(super) fn replace_block(
        &mut self,
        block: &[Arc<FrameBatch>],
        packed: Option<PackedFrames>,
        replaced: &mut Vec<RetainedFrames>,
    ) {
        let Some(first_batch) = block.first() else { return };
        let first = self.retained.partition_point(|run| run.frames.last() < first_batch.first());
        let end = first + block.len();
        self.packed_through = self.retained.get(end).map_or(self.appended_bytes, |next| next.start);
        let (Some(packed), Some(run)) = (packed, self.retained.get(first)) else { return };
        let start = run.start;
        replaced.extend(self.retained.drain(first..end));
        let frames = StoredFrames::Packed(Arc::new(packed));
        self.retained.insert(first, RetainedFrames { frames, start });
    }

    /// Whether a reader that keeps up is behind by more than half of the retention.
    pub(super) fn should_pause(&mut self, now: Instant) -> bool {
        self.is_reader_behind(now, self.retention.events.get() / 2, self.retention.bytes.get() / 2)
    }

    /// Whether appending this much would evict frames that a reader that keeps up has not read.
    pub(super) fn would_overrun_reader(&mut self, now: Instant, events: u64, bytes: u64) -> bool {
        let events_max = self.retention.events.get().saturating_sub(events);
        let bytes_max = self.retention.bytes.get().saturating_sub(bytes);
        self.is_reader_behind(now, events_max, bytes_max)
    }

    /// Whether a reader that keeps up is behind by more than this.
    fn is_reader_behind(&mut self, now: Instant, events: u64, bytes: u64) -> bool {
        let newest = self.newest;
        let appended_bytes = self.appended_bytes;
        self.slots.keeping_up(now).any(|slot| {
            newest.since(slot.position) > events || appended_bytes.saturating_sub(slot.read_bytes) > bytes
        })
    }

    /// How the retained bytes are stored.
    #[cfg(test)]
    pub(super) fn storage(&self) -> super::tests::StoredBytes {
        let mut stored = super::tests::StoredBytes::default();
        for run in &self.retained {
            match &run.frames {
                StoredFrames::Plain(batch) => stored.plain += batch.byte_len(),
                StoredFrames::Packed(packed) => {
                    stored.packed += run.frames.byte_len();
                    stored.compressed += packed.packed_len();
                }
            }
        }
        stored
    }
}
