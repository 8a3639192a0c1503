//! What the ring's lock guards, and the rules of what is kept and who gets what.

use std::{collections::VecDeque, sync::Arc, time::Instant};

use crate::{
    Batch, Bounds, Chunk, Epoch, Item, Retention, Seq,
    ring::slots::{MOVING, Slots},
};

#[derive(Debug)]
pub(super) struct State {
    retention: Retention,
    kept: VecDeque<Kept>,
    newest: Seq,
    /// The bytes ever appended.
    appended: u64,
    pub(super) sealed: bool,
    /// The writer has gone: sealed for good.
    pub(super) closed: bool,
    pub(super) slots: Slots,
}

/// One batch, and the bytes that were appended before it.
#[derive(Debug)]
pub(super) struct Kept {
    batch: Arc<Batch>,
    start: u64,
}

impl State {
    pub(super) fn new(newest: Seq, retention: Retention) -> State {
        State {
            retention,
            kept: VecDeque::new(),
            newest,
            appended: 0,
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
        front.batch.first().max(Seq::new(within).next())
    }

    /// The first frame that is there at all. A reader that follows may still get it although the limit in events has
    /// passed it by: else a batch with more frames than the limit would be lost to readers that keep up.
    fn first(&self) -> Seq {
        self.kept.front().map_or(self.newest.next(), |front| front.batch.first())
    }

    /// Adds a batch and moves what is no longer kept to `gone`, to be freed outside the lock.
    pub(super) fn push(&mut self, batch: Arc<Batch>, gone: &mut Vec<Kept>) {
        debug_assert_eq!(batch.first(), self.newest.next());
        let start = self.appended;
        self.newest = batch.last();
        self.appended += batch.byte_len() as u64;
        self.kept.push_back(Kept { batch, start });
        let oldest = self.oldest();
        // The last batch stays whatever its size: a line larger than the ring must reach the readers that wait.
        while self.kept.len() > 1
            && let Some(front) = self.kept.front()
            && (front.batch.last() < oldest || self.appended - front.start > self.retention.bytes.get())
        {
            gone.extend(self.kept.pop_front());
        }
    }

    /// The batch that holds the frame after `position`, if that is kept.
    fn holding(&self, position: Seq) -> Option<&Kept> {
        let after = self.kept.partition_point(|kept| kept.batch.last() <= position);
        self.kept.get(after)
    }

    /// The bytes ever appended up to and including the frame at `position`, as far as that is known.
    pub(super) fn bytes_through(&self, position: Seq) -> u64 {
        self.holding(position)
            .map_or(self.appended, |kept| kept.start + kept.batch.offset_after(position) as u64)
    }

    /// What the reader `key` gets now, if anything.
    pub(super) fn take(&mut self, key: usize, now: Instant) -> Option<Item> {
        let (oldest, first) = (self.oldest(), self.first());
        let slot = self.slots.get_mut(key)?;
        if slot.gap || slot.position.next() < first {
            slot.gap = false;
            slot.position = oldest.before();
            slot.moved_at = now;
            let position = slot.position;
            let read = self.bytes_through(position);
            if let Some(slot) = self.slots.get_mut(key) {
                slot.read = read;
            }
            return Some(Item::Gap(crate::Gap { oldest, newest: self.newest }));
        }
        if slot.position >= self.newest {
            return None;
        }
        let position = slot.position;
        let kept = self.holding(position)?;
        let read = kept.start + kept.batch.byte_len() as u64;
        let chunk = Chunk::after(position, Arc::clone(&kept.batch));
        if let Some(slot) = self.slots.get_mut(key) {
            slot.position = chunk.last();
            slot.read = read;
            slot.moved_at = now;
        }
        Some(Item::Frames(chunk))
    }

    /// Whether a reader that moved lately is more than half of what is kept behind.
    pub(super) fn pressed(&self, now: Instant) -> bool {
        self.left_behind(now, self.retention.events.get() / 2, self.retention.bytes.get() / 2)
    }

    /// Whether so many frames more would take from a reader that moved lately what it has not read.
    pub(super) fn pushes_out(&self, now: Instant, events: u64, bytes: u64) -> bool {
        let Retention { events: events_max, bytes: bytes_max } = self.retention;
        self.left_behind(now, events_max.get().saturating_sub(events), bytes_max.get().saturating_sub(bytes))
    }

    /// Whether a reader that moved lately is more than this behind.
    fn left_behind(&self, now: Instant, events: u64, bytes: u64) -> bool {
        self.slots.iter().any(|slot| {
            now.saturating_duration_since(slot.moved_at) < MOVING
                && (self.newest.since(slot.position) > events
                    || self.appended.saturating_sub(slot.read) > bytes)
        })
    }
}
