//! The frames that a reader returns in one item.

use std::{fmt, ops::RangeInclusive, sync::Arc};

use bytes::Bytes;

use crate::{FrameBatch, Seq};

/// The frames of one batch that follow a reader's position. It shares the batch's memory.
#[derive(Clone)]
pub struct FrameChunk {
    batch: Arc<FrameBatch>,
    /// The number of frames at the start of the batch that the reader already has; less than the batch's length.
    skip: usize,
}

impl FrameChunk {
    /// The frames of `batch` after `position`; there must be at least one.
    pub(crate) fn after(position: Seq, batch: Arc<FrameBatch>) -> FrameChunk {
        let skip = batch.skip_to(position);
        debug_assert!(skip < batch.len());
        FrameChunk { batch, skip }
    }

    /// The number of the first frame.
    pub fn first(&self) -> Seq {
        self.batch.first().plus(self.skip as u64)
    }

    /// The number of the last frame: the reader's position after taking this chunk.
    pub fn last(&self) -> Seq {
        self.batch.last()
    }

    /// The numbers of the frames.
    pub fn range(&self) -> RangeInclusive<Seq> {
        self.first()..=self.last()
    }

    /// The number of frames; never 0.
    #[expect(clippy::len_without_is_empty, reason = "a chunk is never empty")]
    pub fn len(&self) -> usize {
        self.batch.len() - self.skip
    }

    /// The concatenated frames, without copying.
    pub fn bytes(&self) -> Bytes {
        self.batch.after(self.first().before())
    }

    /// Frame `k`, counted from 0, without copying.
    ///
    /// # Panics
    /// When there is no frame `k`.
    pub fn frame(&self, k: usize) -> Bytes {
        self.batch.frame(self.skip + k)
    }

    /// The frames with their numbers, in order, without copying.
    pub fn frames(&self) -> impl Iterator<Item = (Seq, Bytes)> {
        (self.skip..self.batch.len()).map(|k| (self.batch.first().plus(k as u64), self.batch.frame(k)))
    }
}

impl fmt::Debug for FrameChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.frames()).finish()
    }
}
