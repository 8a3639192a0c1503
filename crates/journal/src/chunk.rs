//! What a reader gets in one go.

use std::{fmt, ops::RangeInclusive, sync::Arc};

use bytes::Bytes;

use crate::{Batch, Seq};

/// The rest of one batch after a reader's position: a share of it, not a copy.
#[derive(Clone)]
pub struct Chunk {
    batch: Arc<Batch>,
    /// Frames of the batch that lie before the chunk; always less than there are.
    skip: usize,
}

impl Chunk {
    /// What `batch` holds after `position`; the caller has seen that this is not nothing.
    pub(crate) fn after(position: Seq, batch: Arc<Batch>) -> Chunk {
        let skip = batch.skip_to(position);
        debug_assert!(skip < batch.len());
        Chunk { batch, skip }
    }

    /// The number of its first frame.
    pub fn first(&self) -> Seq {
        self.batch.first().plus(self.skip as u64)
    }

    /// The number of its last frame: where a reader that took it stands.
    pub fn last(&self) -> Seq {
        self.batch.last()
    }

    /// The numbers it covers.
    pub fn range(&self) -> RangeInclusive<Seq> {
        self.first()..=self.last()
    }

    /// How many frames it holds; never 0.
    #[expect(clippy::len_without_is_empty, reason = "a chunk is never empty")]
    pub fn len(&self) -> usize {
        self.batch.len() - self.skip
    }

    /// All its frames, one after the other, without copying.
    pub fn bytes(&self) -> Bytes {
        self.batch.after(self.first().before())
    }

    /// Its frame `k`, counted from 0, without copying.
    ///
    /// # Panics
    /// When there is no frame `k`.
    pub fn frame(&self, k: usize) -> Bytes {
        self.batch.frame(self.skip + k)
    }

    /// Its frames with their numbers, in order, without copying.
    pub fn frames(&self) -> impl Iterator<Item = (Seq, Bytes)> {
        (self.skip..self.batch.len()).map(|k| (self.batch.first().plus(k as u64), self.batch.frame(k)))
    }
}

impl fmt::Debug for Chunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.frames()).finish()
    }
}
