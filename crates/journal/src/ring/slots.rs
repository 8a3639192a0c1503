//! The readers of a ring: where each one stands and how to wake it.

use std::{
    task::Waker,
    time::{Duration, Instant},
};

use crate::Seq;

/// For how long after its last move a reader counts as keeping up, and may hold the writer.
///
/// Long enough for a browser's hiccup; short enough that a stalled reader is not felt.
pub const MOVING: Duration = Duration::from_millis(250);

/// For how long a reader that was never seen to read may hold the writer once nobody moves any more: what it took may
/// all lie in the system's buffers, with nobody behind them.
pub(super) const UNSEEN: Duration = Duration::from_millis(25);

/// More than the system's buffers take for somebody who does not read.
pub(super) const SEEN_BYTES: u64 = 1024 * 1024;

/// A reader that takes more after a pause like this has made room by reading.
pub(super) const SEEN_PAUSE: Duration = Duration::from_millis(5);

/// One reader.
#[derive(Debug)]
pub(super) struct Slot {
    /// The last frame it took.
    pub(super) position: Seq,
    /// The bytes ever appended up to and including that frame.
    pub(super) read: u64,
    /// It asked for what is not there, and has not been told yet.
    pub(super) gap: bool,
    /// When it last took something, or found that there is something after it had taken everything.
    pub(super) moved_at: Instant,
    /// The bytes that it took.
    taken: u64,
    /// Somebody reads what it takes.
    seen: bool,
    /// Set while it waits: it has taken everything there is.
    pub(super) waker: Option<Waker>,
}

impl Slot {
    pub(super) fn new(position: Seq, read: u64, gap: bool) -> Slot {
        Slot { position, read, gap, moved_at: Instant::now(), taken: 0, seen: false, waker: None }
    }
}

/// All readers, by a key that stays theirs until they are removed.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Option<Slot>>,
    free: Vec<usize>,
    /// How many have a waker, so that an append nobody waits for need not look.
    waiting: usize,
    /// When any of them last took something.
    moved_at: Option<Instant>,
    /// The last such time that was followed by a while in which nobody did.
    rested_at: Option<Instant>,
}

impl Slots {
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn insert(&mut self, slot: Slot) -> usize {
        if let Some(key) = self.free.pop() {
            self.slots[key] = Some(slot);
            return key;
        }
        self.slots.push(Some(slot));
        self.slots.len() - 1
    }

    /// Removes a reader; what it returns must be dropped outside the lock, as a waker may own a task and its readers.
    #[must_use]
    pub(super) fn remove(&mut self, key: usize) -> Option<Slot> {
        let slot = self.slots.get_mut(key)?.take()?;
        self.free.push(key);
        self.waiting -= usize::from(slot.waker.is_some());
        Some(slot)
    }

    pub(super) fn get_mut(&mut self, key: usize) -> Option<&mut Slot> {
        self.slots.get_mut(key)?.as_mut()
    }

    /// Notes that the reader `key` took so many bytes, and now stands at `position`.
    pub(super) fn moved(&mut self, key: usize, taken: usize, (position, read): (Seq, u64), now: Instant) {
        self.moved_at = Some(now);
        let Some(slot) = self.get_mut(key) else { return };
        slot.taken += taken as u64;
        slot.seen |= slot.taken > SEEN_BYTES || now.saturating_duration_since(slot.moved_at) > SEEN_PAUSE;
        (slot.position, slot.read, slot.moved_at) = (position, read, now);
    }

    /// The readers that keep up: they moved lately, and somebody was seen to read what they take. Of the others it
    /// is not known until the readers beside them have had their turn, and nobody has moved for a while.
    pub(super) fn keeping_up(&mut self, now: Instant) -> impl Iterator<Item = &Slot> {
        if self.moved_at.is_some_and(|at| now.saturating_duration_since(at) >= UNSEEN) {
            self.rested_at = self.moved_at;
        }
        let rested_at = self.rested_at;
        let keeps_up = move |slot: &&Slot| {
            let unknown = rested_at.is_none_or(|rested_at| slot.moved_at > rested_at);
            now.saturating_duration_since(slot.moved_at) < MOVING && (slot.seen || unknown)
        };
        self.slots.iter().flatten().filter(keeps_up)
    }

    /// Notes who is to be woken for `key`; what it returns must be dropped outside the lock.
    #[must_use]
    pub(super) fn wait(&mut self, key: usize, waker: &Waker) -> Option<Waker> {
        let slot = self.slots.get_mut(key)?.as_mut()?;
        if slot.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            return None;
        }
        let old = slot.waker.replace(waker.clone());
        self.waiting += usize::from(old.is_none());
        old
    }

    /// Whether anybody waits.
    pub(super) fn waiting(&self) -> bool {
        self.waiting > 0
    }

    /// Moves all wakers to `wakers`. Given a time, the readers that waited count as moving from then on: they had
    /// nothing to take until now.
    pub(super) fn take_wakers(&mut self, wakers: &mut Vec<Waker>, now: Option<Instant>) {
        if self.waiting == 0 {
            return;
        }
        self.waiting = 0;
        for slot in self.slots.iter_mut().flatten() {
            if let Some(waker) = slot.waker.take() {
                slot.moved_at = now.unwrap_or(slot.moved_at);
                wakers.push(waker);
            }
        }
    }
}
