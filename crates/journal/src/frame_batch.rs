//! A run of numbered frames: the unit in which the ring stores frames.

use bytes::Bytes;

use crate::{FrameBuffer, Seq};

/// Consecutive frames that were appended together. The bytes are encoded once; every reader shares them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FrameBatch {
    first: Seq,
    frames: FrameBuffer,
}

impl FrameBatch {
    /// Numbers the frames from `first` on.
    pub(crate) fn new(first: Seq, frames: FrameBuffer) -> FrameBatch {
        FrameBatch { first, frames }
    }

    pub(crate) fn first(&self) -> Seq {
        self.first
    }

    /// The number of the last frame; `first - 1` when the batch is empty.
    pub(crate) fn last(&self) -> Seq {
        self.first.before().plus(self.frames.len() as u64)
    }

    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The sum of the frame sizes.
    pub(crate) fn byte_len(&self) -> usize {
        self.frames.bytes().len()
    }

    /// Frame `k`, counted from 0, without copying. Panics when there is none.
    pub(crate) fn frame(&self, k: usize) -> Bytes {
        self.frames.frame(k)
    }

    /// The concatenated frames after `seq`, without copying; all of them when `seq` lies before the batch.
    pub(crate) fn after(&self, seq: Seq) -> Bytes {
        self.frames.bytes().slice(self.offset_after(seq)..)
    }

    /// The frames as slices, in order.
    pub(crate) fn slices(&self) -> impl Iterator<Item = &[u8]> {
        self.frames.slices()
    }

    /// The number of frames at or before `seq`.
    pub(crate) fn skip_to(&self, seq: Seq) -> usize {
        seq.since(self.first.before()).min(self.len() as u64) as usize
    }

    /// The offset at which the first frame after `seq` starts.
    pub(crate) fn offset_after(&self, seq: Seq) -> usize {
        self.frames.start_of(self.skip_to(seq))
    }
}

#[cfg(test)]
mod tests;
