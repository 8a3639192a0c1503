//! Numbered frames: the unit in which a journal stores and hands out.

use bytes::Bytes;

use crate::{Frames, Seq};

/// Consecutive frames that were appended together, rendered once, shared by every reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    first: Seq,
    frames: Frames,
}

impl Batch {
    /// The frames, numbered from `first` on.
    pub(crate) fn new(first: Seq, frames: Frames) -> Batch {
        Batch { first, frames }
    }

    /// The number of the first frame.
    pub fn first(&self) -> Seq {
        self.first
    }

    /// The number of the last frame; the one before `first` when the batch is empty.
    pub fn last(&self) -> Seq {
        self.first.before().plus(self.frames.len() as u64)
    }

    /// How many frames it holds.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether it holds no frame at all.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// How many bytes all frames have together.
    pub fn byte_len(&self) -> usize {
        self.frames.bytes().len()
    }

    /// Frame `k` of the batch, counted from 0, without copying.
    ///
    /// # Panics
    /// When there is no frame `k`.
    pub fn frame(&self, k: usize) -> Bytes {
        self.frames.frame(k)
    }

    /// All frames after `seq`, one after the other, without copying; all of them when `seq` lies before the batch.
    pub fn after(&self, seq: Seq) -> Bytes {
        self.frames.bytes().slice(self.offset_after(seq)..)
    }

    /// The frames as plain slices, in order.
    pub(crate) fn slices(&self) -> impl Iterator<Item = &[u8]> {
        self.frames.slices()
    }

    /// How many frames lie at or before `seq`.
    pub(crate) fn skip_to(&self, seq: Seq) -> usize {
        seq.since(self.first.before()).min(self.len() as u64) as usize
    }

    /// Where the first frame after `seq` starts.
    pub(crate) fn offset_after(&self, seq: Seq) -> usize {
        self.frames.start_of(self.skip_to(seq))
    }
}

#[cfg(test)]
mod tests;
