//! The readers of a ring: their positions, their wakers, and which of them the writer waits for.
//!
//! A writer pauses for readers that would otherwise lose frames, but a stalled client must not stop the agent that
//! writes. The rules below decide which readers *keep up*. The difficulty: a reader that serves a socket takes frames as
//! fast as the kernel accepts them. A client that never reads therefore looks active until the socket buffers are full.

use std::{
    task::Waker,
    time::{Duration, Instant},
};

use crate::Seq;

/// How long after taking frames a reader still counts as keeping up and can make the writer pause.
///
/// Long enough for a pause in a browser; short enough that a stalled client causes no noticeable delay.
pub const KEEP_UP_WINDOW: Duration = Duration::from_millis(250);

/// How long a reader whose client is not [proven](ReaderSlot::client_proven) can make the writer pause after the last
/// activity of any reader. Its frames may all be in socket buffers with no client consuming them.
pub(super) const UNPROVEN_GRACE: Duration = Duration::from_millis(25);

/// More bytes than socket buffers hold: a reader that took this many has a client that consumes them.
pub(super) const PROVEN_BYTES: u64 = 1024 * 1024;

/// A reader that takes frames after a pause of this length was blocked by a full buffer, which its client has drained.
pub(super) const PROVEN_PAUSE: Duration = Duration::from_millis(5);

/// Identifies a reader until it is removed.
pub(super) type SlotKey = usize;

/// The state of one reader.
#[derive(Debug)]
pub(super) struct ReaderSlot {
    /// The last frame it took.
    pub(super) position: Seq,
    /// The bytes ever appended to the ring up to and including that frame.
    pub(super) read_bytes: u64,
    /// It was opened at frames that are not available and must report that as a gap first.
    pub(super) gap_pending: bool,
    /// When it last took frames. For a reader that had taken everything: when new frames arrived.
    pub(super) moved_at: Instant,
    /// The sum of the bytes it took.
    taken_bytes: u64,
    /// Its client is known to consume frames: see [`PROVEN_BYTES`] and [`PROVEN_PAUSE`].
    client_proven: bool,
    /// Set while it waits, having taken all frames.
    waker: Option<Waker>,
}

/// A read by one reader.
pub(super) struct ReaderMove {
    /// The bytes that it took.
    pub(super) taken_bytes: usize,
    /// Its new position.
    pub(super) position: Seq,
    /// The bytes ever appended up to that position.
    pub(super) read_bytes: u64,
    pub(super) at: Instant,
}

impl ReaderSlot {
    pub(super) fn new(position: Seq, read_bytes: u64, gap_pending: bool) -> ReaderSlot {
        ReaderSlot {
            position,
            read_bytes,
            gap_pending,
            moved_at: Instant::now(),
            taken_bytes: 0,
            client_proven: false,
            waker: None,
        }
    }
}

/// All readers of a ring.
#[derive(Debug, Default)]
pub(super) struct ReaderSlots {
    slots: Vec<Option<ReaderSlot>>,
    free: Vec<SlotKey>,
    /// The number of slots with a waker. While it is 0, an append skips the search for wakers.
    waiting: usize,
    /// When any reader last took frames.
    moved_at: Option<Instant>,
    /// The most recent `moved_at` that was followed by [`UNPROVEN_GRACE`] without activity.
    quiet_since: Option<Instant>,
}

impl ReaderSlots {
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn insert(&mut self, slot: ReaderSlot) -> SlotKey {
        if let Some(key) = self.free.pop() {
            self.slots[key] = Some(slot);
            return key;
        }
        self.slots.push(Some(slot));
        self.slots.len() - 1
    }

    /// Removes a reader. The caller must drop the returned slot after releasing the lock: its waker may own a task, and
    /// that task may own other readers of the same ring.
    #[must_use]
    pub(super) fn remove(&mut self, key: SlotKey) -> Option<ReaderSlot> {
        let slot = self.slots.get_mut(key)?.take()?;
        self.free.push(key);
        self.waiting -= usize::from(slot.waker.is_some());
        Some(slot)
    }

    pub(super) fn get_mut(&mut self, key: SlotKey) -> Option<&mut ReaderSlot> {
        self.slots.get_mut(key)?.as_mut()
    }

    /// Records that a reader took frames.
    pub(super) fn record_move(&mut self, key: SlotKey, step: &ReaderMove) {
        self.moved_at = Some(step.at);
        let Some(slot) = self.get_mut(key) else { return };
        slot.taken_bytes += step.taken_bytes as u64;
        let pause = step.at.saturating_duration_since(slot.moved_at);
        slot.client_proven |= slot.taken_bytes > PROVEN_BYTES || pause > PROVEN_PAUSE;
        slot.position = step.position;
        slot.read_bytes = step.read_bytes;
        slot.moved_at = step.at;
    }

    /// The readers that the writer waits for: those that took frames within [`KEEP_UP_WINDOW`] and have a proven client.
    ///
    /// An unproven reader counts as well as long as it may simply not have had its turn: while the other readers are
    /// active, the runtime may not have polled this one yet. Once no reader has moved for [`UNPROVEN_GRACE`], every
    /// reader had its turn, and an unproven one that has not moved since is considered stalled.
    pub(super) fn keeping_up(&mut self, now: Instant) -> impl Iterator<Item = &ReaderSlot> {
        if self.moved_at.is_some_and(|at| now.saturating_duration_since(at) >= UNPROVEN_GRACE) {
            self.quiet_since = self.moved_at;
        }
        let quiet_since = self.quiet_since;
        let keeps_up = move |slot: &&ReaderSlot| {
            let may_be_next = quiet_since.is_none_or(|quiet_since| slot.moved_at > quiet_since);
            let moved_lately = now.saturating_duration_since(slot.moved_at) < KEEP_UP_WINDOW;
            moved_lately && (slot.client_proven || may_be_next)
        };
        self.slots.iter().flatten().filter(keeps_up)
    }

    /// Sets the waker of a reader. The caller must drop the returned, replaced waker after releasing the lock.
    #[must_use]
    pub(super) fn set_waker(&mut self, key: SlotKey, waker: &Waker) -> Option<Waker> {
        let slot = self.slots.get_mut(key)?.as_mut()?;
        if slot.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            return None;
        }
        let old = slot.waker.replace(waker.clone());
        self.waiting += usize::from(old.is_none());
        old
    }

    /// Whether any reader waits for an append.
    pub(super) fn any_waiting(&self) -> bool {
        self.waiting > 0
    }

    /// Moves all wakers to `wakers`; the caller wakes them after releasing the lock.
    ///
    /// An append passes the current time: the window in which a waiting reader counts as keeping up starts only now, as
    /// there was nothing to take before. Sealing passes `None`, because it brings no frames.
    pub(super) fn take_wakers(&mut self, wakers: &mut Vec<Waker>, appended_at: Option<Instant>) {
        if self.waiting == 0 {
            return;
        }
        self.waiting = 0;
        for slot in self.slots.iter_mut().flatten() {
            if let Some(waker) = slot.waker.take() {
                slot.moved_at = appended_at.unwrap_or(slot.moved_at);
                wakers.push(waker);
            }
        }
    }
}
