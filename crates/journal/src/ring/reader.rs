//! One reader of a ring.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
    time::Instant,
};

use crate::{
    Cursor, FrameChunk, Gap, JournalItem, RingJournal, Seq,
    ring::{packed_frames::StoredFrames, reader_slots::SlotKey, state::NextRead},
};

/// Follows a ring from one position on.
#[derive(Debug)]
pub struct RingReader {
    ring: RingJournal,
    pub(super) key: SlotKey,
}

impl RingReader {
    pub(super) fn new(ring: RingJournal, key: SlotKey) -> RingReader {
        RingReader { ring, key }
    }

    /// The next item; `None` when the ring is sealed and everything was read.
    ///
    /// It may be polled again after `None`: if the writer unseals the ring and appends, the reader continues.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<JournalItem>> {
        let now = Instant::now();
        let mut state = self.ring.shared.state.lock();
        if let Some(next) = state.advance_reader(self.key, now) {
            drop(state);
            return Poll::Ready(Some(unpack(next)));
        }
        if state.sealed || state.closed {
            return Poll::Ready(None);
        }
        // The waker is set under the lock that found nothing to read, so an append cannot happen in between and leave
        // this reader asleep. The replaced waker may own the task that owns readers: drop it after the lock.
        let replaced = state.slots.set_waker(self.key, cx.waker());
        drop(state);
        drop(replaced);
        Poll::Pending
    }

    /// Waits for the next item; `None` when the ring is sealed and everything was read. Cancel safe.
    pub async fn next(&mut self) -> Option<JournalItem> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The position of the last frame that this reader returned, to continue from later.
    pub fn cursor(&self) -> Cursor {
        let position = self.ring.shared.state.lock().slots.get_mut(self.key).map(|slot| slot.position);
        self.ring.cursor(position.unwrap_or_default())
    }

    /// Moves the reader to `position`, which may lie outside the ring as for [`RingJournal::reader_at`].
    pub(crate) fn seek(&mut self, position: Seq) {
        let mut state = self.ring.shared.state.lock();
        let read_bytes = state.bytes_through(position);
        if let Some(slot) = state.slots.get_mut(self.key) {
            slot.position = position;
            slot.read_bytes = read_bytes;
        }
    }
}

/// Decompresses the frames if necessary. It runs after the lock was released.
fn unpack(next: NextRead) -> JournalItem {
    let (position, frames) = match next {
        NextRead::Gap(gap) => return JournalItem::Gap(gap),
        NextRead::Frames { position, frames } => (position, frames),
    };
    let batch = match frames {
        StoredFrames::Plain(batch) => batch,
        StoredFrames::Packed(packed) => match packed.unpack() {
            Ok(batch) => Arc::new(batch),
            // The ring compressed these bytes itself, so this indicates memory corruption. Report the loss to the reader.
            Err(_) => {
                return JournalItem::Gap(Gap { oldest: packed.last().next(), newest: packed.last() });
            }
        },
    };
    JournalItem::Frames(FrameChunk::after(position, batch))
}

impl Drop for RingReader {
    fn drop(&mut self) {
        let slot = self.ring.shared.state.lock().slots.remove(self.key);
        drop(slot);
    }
}
