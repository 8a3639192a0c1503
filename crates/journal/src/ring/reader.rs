//! One reader of a ring.

use std::{
    convert::Infallible,
    future::poll_fn,
    task::{Context, Poll},
    time::Instant,
};

use crate::{Cursor, Follow, Item, Ring, Seq};

/// Follows a ring from one position on. Dropping it frees its place.
#[derive(Debug)]
pub struct Reader {
    ring: Ring,
    pub(super) key: usize,
}

impl Reader {
    pub(super) fn new(ring: Ring, key: usize) -> Reader {
        Reader { ring, key }
    }

    /// The next item; `None` when the ring is sealed and everything was read.
    ///
    /// After `None` it may be asked again: if the writer goes on, so does the reader.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        let now = Instant::now();
        let mut state = self.ring.shared.state.lock();
        if let Some(item) = state.take(self.key, now) {
            return Poll::Ready(Some(item));
        }
        if state.sealed || state.closed {
            return Poll::Ready(None);
        }
        let old = state.slots.wait(self.key, cx.waker());
        drop(state);
        drop(old);
        Poll::Pending
    }

    /// The next item, waiting for it; `None` when the ring is sealed and everything was read. Cancel safe.
    pub async fn next(&mut self) -> Option<Item> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The position of the last frame it took, to go on from later.
    pub fn cursor(&self) -> Cursor {
        let position = self.ring.shared.state.lock().slots.get_mut(self.key).map(|slot| slot.position);
        self.ring.cursor(position.unwrap_or_default())
    }

    /// Puts it at `position`, as [`Ring::reader_at`] would.
    pub(crate) fn seek(&mut self, position: Seq) {
        let mut state = self.ring.shared.state.lock();
        let read = state.bytes_through(position);
        if let Some(slot) = state.slots.get_mut(self.key) {
            slot.position = position;
            slot.read = read;
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let slot = self.ring.shared.state.lock().slots.remove(self.key);
        drop(slot);
    }
}

impl Follow for Reader {
    type Error = Infallible;

    async fn next(&mut self) -> Result<Option<Item>, Infallible> {
        Ok(Reader::next(self).await)
    }

    fn cursor(&self) -> Cursor {
        Reader::cursor(self)
    }
}
