//! Old frames in little memory: compressed when the writer rests, unpacked when somebody reads them again.

use std::{io, sync::Arc};

use bytes::Bytes;

use super::segments::{SEGMENT_BYTES, Segments};
use crate::{Batch, Frames, Seq, frames::end_of};

/// How many bytes of frames are packed together: enough to find what repeats, little enough to be done between two
/// reads of a pipe.
pub(super) const BLOCK_BYTES: u64 = 64 * 1024;

/// Larger ones stay as they are: to pack or to unpack them would hold up everybody else.
pub(super) const BLOCK_BYTES_MAX: u64 = 1024 * 1024;

/// The fastest; what is rendered for a stream repeats itself so much that more effort gains little.
const LEVEL: i32 = 1;

/// Packs blocks into segments of its own.
#[derive(Debug, Default)]
pub(super) struct Packer {
    segments: Segments,
}

impl Packer {
    /// Packs batches that follow each other; `None` if that would save next to nothing.
    pub(super) fn pack(&mut self, batches: &[Arc<Batch>]) -> Option<Packed> {
        let first = batches.first()?.first();
        let length = batches.iter().map(|batch| batch.byte_len()).sum();
        let mut plain = scratch(length);
        let mut ends = Vec::with_capacity(batches.iter().map(|batch| batch.len()).sum());
        for batch in batches {
            for frame in batch.slices() {
                plain.extend_from_slice(frame);
                ends.push(end_of(plain.len()));
            }
        }
        let mut packed = scratch(zstd::compress_bound(length));
        zstd::bulk::Compressor::new(LEVEL).ok()?.compress_to_buffer(&plain, &mut packed).ok()?;
        if packed.len() + length / 10 > length {
            return None;
        }
        self.segments.begin();
        self.segments.reserve(packed.len());
        self.segments.current().extend_from_slice(&packed);
        Some(Packed { first, ends: ends.into(), bytes: self.segments.finish() })
    }

    /// Gives the memory back that nothing is packed in any more.
    pub(super) fn forget_free(&mut self) {
        self.segments.forget_free();
    }
}

/// Memory for a moment: never less than what is mapped on its own, so that it goes back at once.
fn scratch(bytes: usize) -> Vec<u8> {
    Vec::with_capacity(bytes.max(SEGMENT_BYTES))
}

/// Consecutive frames, compressed.
#[derive(Debug)]
pub(super) struct Packed {
    first: Seq,
    /// Where each frame ends in what is compressed.
    ends: Box<[u32]>,
    bytes: Bytes,
}

impl Packed {
    /// The batch that it was.
    pub(super) fn unpack(&self) -> io::Result<Batch> {
        let bytes = zstd::bulk::decompress(&self.bytes, self.byte_len())?;
        Ok(Batch::new(self.first, Frames::rendered(bytes.into(), self.ends.clone())))
    }

    pub(super) fn first(&self) -> Seq {
        self.first
    }

    pub(super) fn last(&self) -> Seq {
        self.first.before().plus(self.ends.len() as u64)
    }

    /// How long its frames are when they are read.
    fn byte_len(&self) -> usize {
        self.ends.last().map_or(0, |&end| end as usize)
    }

    #[cfg(test)]
    pub(super) fn packed_len(&self) -> usize {
        self.bytes.len()
    }

    /// Where the first frame after `seq` starts.
    fn offset_after(&self, seq: Seq) -> usize {
        match seq.since(self.first.before()).min(self.ends.len() as u64) as usize {
            0 => 0,
            skip => self.ends[skip - 1] as usize,
        }
    }
}

/// How a run of frames is kept.
#[derive(Debug, Clone)]
pub(super) enum Stored {
    Plain(Arc<Batch>),
    Packed(Arc<Packed>),
}

impl Stored {
    pub(super) fn first(&self) -> Seq {
        match self {
            Stored::Plain(batch) => batch.first(),
            Stored::Packed(packed) => packed.first(),
        }
    }

    pub(super) fn last(&self) -> Seq {
        match self {
            Stored::Plain(batch) => batch.last(),
            Stored::Packed(packed) => packed.last(),
        }
    }

    /// How long its frames are when they are read.
    pub(super) fn byte_len(&self) -> usize {
        match self {
            Stored::Plain(batch) => batch.byte_len(),
            Stored::Packed(packed) => packed.byte_len(),
        }
    }

    /// Where the first frame after `seq` starts.
    pub(super) fn offset_after(&self, seq: Seq) -> usize {
        match self {
            Stored::Plain(batch) => batch.offset_after(seq),
            Stored::Packed(packed) => packed.offset_after(seq),
        }
    }
}
