//! One reader of a ring.

use std::{
    convert::Infallible,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
    time::Instant,
};

use crate::{
    Chunk, Cursor, Follow, Gap, Item, Ring, Seq,
    ring::{packed::Stored, state::Taken},
};

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
        if let Some(taken) = state.take(self.key, now) {
            drop(state);
            return Poll::Ready(Some(item(taken)));
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

fn item(taken: Taken) -> Item {
    let (position, stored) = match taken {
        Taken::Gap(gap) => return Item::Gap(gap),
        Taken::After { position, stored } => (position, stored),
    };
    let batch = match stored {
        Stored::Plain(batch) => batch,
        Stored::Packed(packed) => match packed.unpack() {
            Ok(batch) => Arc::new(batch),
            // We packed it ourselves, so this cannot be; if it is, it is not passed over in silence.
            Err(_) => return Item::Gap(Gap { oldest: packed.last().next(), newest: packed.last() }),
        },
    };
    Item::Frames(Chunk::after(position, batch))
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
