//! What the ring's lock guards, and the rules of what is kept and who gets what.

use std::{collections::VecDeque, sync::Arc, time::Instant};

use crate::{
    Batch, Bounds, Epoch, Gap, Retention, Seq,
    ring::{
        packed::{BLOCK_BYTES, BLOCK_BYTES_MAX, Packed, Stored},
        slots::Slots,
    },
};

#[derive(Debug)]
pub(super) struct State {
    retention: Retention,
    kept: VecDeque<Kept>,
    newest: Seq,
    /// The bytes ever appended.
    appended: u64,
    /// As much of them was packed, or was found not to be worth it.
    packed: u64,
    pub(super) sealed: bool,
    /// The writer has gone: sealed for good.
    pub(super) closed: bool,
    pub(super) slots: Slots,
}

/// Frames, and the bytes that were appended before them.
#[derive(Debug)]
pub(super) struct Kept {
    stored: Stored,
    start: u64,
}

/// What a reader gets.
pub(super) enum Taken {
    Gap(Gap),
    /// What of this follows `position`.
    After {
        position: Seq,
        stored: Stored,
    },
}

impl State {
    pub(super) fn new(newest: Seq, retention: Retention) -> State {
        State {
            retention,
            kept: VecDeque::new(),
            newest,
            appended: 0,
            packed: 0,
            sealed: false,
            closed: false,
            slots: Slots::default(),
        }
    }

    pub(super) fn bounds(&self, epoch: Epoch) -> Bounds {
        let (oldest, newest) = (self.oldest(), self.newest);
        let bytes = self.kept.front().map_or(0, |front| self.appended - front.start);
        Bounds { epoch, oldest, newest, events: newest.since(oldest.before()), bytes }
    }

    /// The oldest frame that can be read. Batches go as a whole, but the limit in events is exact: of the front
    /// batch only the frames within it count.
    fn oldest(&self) -> Seq {
        let Some(front) = self.kept.front() else { return self.newest.next() };
        let within = self.newest.get().saturating_sub(self.retention.events.get());
        front.stored.first().max(Seq::new(within).next())
    }

    /// The first frame that is there at all. A reader that follows may still get it although the limit in events has
    /// passed it by: else a batch with more frames than the limit would be lost to readers that keep up.
    fn first(&self) -> Seq {
        self.kept.front().map_or(self.newest.next(), |front| front.stored.first())
    }

    /// Adds a batch and moves what is no longer kept to `gone`, to be freed outside the lock.
    pub(super) fn push(&mut self, batch: Arc<Batch>, gone: &mut Vec<Kept>) {
        debug_assert_eq!(batch.first(), self.newest.next());
        let start = self.appended;
        self.newest = batch.last();
        self.appended += batch.byte_len() as u64;
        self.kept.push_back(Kept { stored: Stored::Plain(batch), start });
        let oldest = self.oldest();
        // The last batch stays whatever its size: a line larger than the ring must reach the readers that wait.
        while self.kept.len() > 1
            && let Some(front) = self.kept.front()
            && (front.stored.last() < oldest || self.appended - front.start > self.retention.bytes.get())
        {
            gone.extend(self.kept.pop_front());
        }
    }

    /// The batch that holds the frame after `position`, if that is kept.
    fn holding(&self, position: Seq) -> Option<&Kept> {
        // Who keeps up wants the last one.
        if let Some(last) = self.kept.back()
            && last.stored.first() <= position.next()
        {
            return (last.stored.last() > position).then_some(last);
        }
        let after = self.kept.partition_point(|kept| kept.stored.last() <= position);
        self.kept.get(after)
    }

    /// The bytes ever appended up to and including the frame at `position`, as far as that is known.
    pub(super) fn bytes_through(&self, position: Seq) -> u64 {
        self.holding(position)
            .map_or(self.appended, |kept| kept.start + kept.stored.offset_after(position) as u64)
    }

    /// What the reader `key` gets now, if anything.
    pub(super) fn take(&mut self, key: usize, now: Instant) -> Option<Taken> {
        let (oldest, first) = (self.oldest(), self.first());
        let slot = self.slots.get_mut(key)?;
        if slot.gap || slot.position.next() < first {
            slot.gap = false;
            let position = oldest.before();
            let read = self.bytes_through(position);
            self.slots.moved(key, 0, (position, read), now);
            return Some(Taken::Gap(Gap { oldest, newest: self.newest }));
        }
        let position = slot.position;
        if position >= self.newest {
            return None;
        }
        let kept = self.holding(position)?;
        let (stored, length) = (kept.stored.clone(), kept.stored.byte_len());
        let (taken, read) = (length - stored.offset_after(position), kept.start + length as u64);
        self.slots.moved(key, taken, (stored.last(), read), now);
        Some(Taken::After { position, stored })
    }

    /// Whether there is enough that is neither packed nor known not to be worth it.
    pub(super) fn packable(&self) -> bool {
        let kept = self.kept.front().map_or(self.appended, |front| front.start);
        self.appended - self.packed.max(kept) >= BLOCK_BYTES && self.block_bytes_max() >= BLOCK_BYTES
    }

    /// The most that is packed together. A block goes as a whole, so that it must not reach from the oldest frame to
    /// where readers that keep up may stand.
    fn block_bytes_max(&self) -> u64 {
        BLOCK_BYTES_MAX.min(self.retention.bytes.get() / 4)
    }

    /// The oldest batches that are to be packed together; empty when there is too little of them.
    pub(super) fn next_block(&mut self) -> Vec<Arc<Batch>> {
        let mut block = Vec::new();
        let mut bytes = 0;
        let bytes_max = self.block_bytes_max();
        let at = self.kept.partition_point(|kept| kept.start < self.packed);
        for kept in self.kept.range(at..) {
            let size = kept.stored.byte_len() as u64;
            match &kept.stored {
                Stored::Plain(batch) if bytes + size <= bytes_max => block.push(Arc::clone(batch)),
                // What is too large stays as it is, and ends a block.
                _ if block.is_empty() => self.packed = kept.start + size,
                _ => return block,
            }
            bytes += size;
            if bytes >= BLOCK_BYTES {
                return block;
            }
        }
        Vec::new()
    }

    /// Puts `packed` in the place of the batches that it was made of, which move to `gone`; without it they stay.
    pub(super) fn pack(&mut self, block: &[Arc<Batch>], packed: Option<Packed>, gone: &mut Vec<Kept>) {
        let Some(first) = block.first() else { return };
        let at = self.kept.partition_point(|kept| kept.stored.last() < first.first());
        let end = at + block.len();
        self.packed = self.kept.get(end).map_or(self.appended, |next| next.start);
        let (Some(packed), Some(kept)) = (packed, self.kept.get(at)) else { return };
        let start = kept.start;
        gone.extend(self.kept.drain(at..end));
        self.kept.insert(at, Kept { stored: Stored::Packed(Arc::new(packed)), start });
    }

    /// How many bytes are plain, how many are packed, and into how many.
    #[cfg(test)]
    pub(super) fn lengths(&self) -> (usize, usize, usize) {
        self.kept.iter().fold((0, 0, 0), |(plain, packed, small), kept| match &kept.stored {
            Stored::Plain(batch) => (plain + batch.byte_len(), packed, small),
            Stored::Packed(block) => (plain, packed + kept.stored.byte_len(), small + block.packed_len()),
        })
    }

    /// Whether a reader that moved lately is more than half of what is kept behind.
    pub(super) fn pressed(&mut self, now: Instant) -> bool {
        self.left_behind(now, self.retention.events.get() / 2, self.retention.bytes.get() / 2)
    }

    /// Whether so many frames more would take from a reader that moved lately what it has not read.
    pub(super) fn pushes_out(&mut self, now: Instant, events: u64, bytes: u64) -> bool {
        let Retention { events: events_max, bytes: bytes_max } = self.retention;
        self.left_behind(now, events_max.get().saturating_sub(events), bytes_max.get().saturating_sub(bytes))
    }

    /// Whether a reader that keeps up is more than this behind.
    fn left_behind(&mut self, now: Instant, events: u64, bytes: u64) -> bool {
        let (newest, appended) = (self.newest, self.appended);
        self.slots
            .keeping_up(now)
            .any(|slot| newest.since(slot.position) > events || appended.saturating_sub(slot.read) > bytes)
    }
}
