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
    /// Set while it waits: it has taken everything there is.
    pub(super) waker: Option<Waker>,
}

/// All readers, by a key that stays theirs until they are removed.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Option<Slot>>,
    free: Vec<usize>,
    /// How many have a waker, so that an append nobody waits for need not look.
    waiting: usize,
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

    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().flatten()
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
