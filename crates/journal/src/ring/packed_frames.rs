//! Compression of old frames while the writer is idle. Agents' messages resemble each other, so they shrink about tenfold.

use std::{io, sync::Arc};

use bytes::Bytes;

use super::segment_pool::{SEGMENT_BYTES, SegmentPool};
use crate::{FrameBatch, FrameBuffer, Seq, frame_buffer::end_of};

/// The minimum size of a block of frames to compress: large enough to contain repetition, small enough to be compressed
/// between two reads of a pipe.
pub(super) const BLOCK_BYTES: u64 = 64 * 1024;

/// Larger batches stay plain: compressing or decompressing them would delay other tasks of the same thread.
pub(super) const BLOCK_BYTES_MAX: u64 = 1024 * 1024;

/// zstd's fastest regular level; the frames of a stream are so repetitive that higher levels gain little.
const LEVEL: i32 = 1;

/// Compresses blocks into segments of its own.
#[derive(Debug, Default)]
pub(super) struct FramePacker {
    segments: SegmentPool,
}

impl FramePacker {
    /// Compresses consecutive batches; `None` if that saves less than a tenth.
    pub(super) fn pack(&mut self, batches: &[Arc<FrameBatch>]) -> Option<PackedFrames> {
        let first = batches.first()?.first();
        let length = batches.iter().map(|batch| batch.byte_len()).sum();
        let mut plain = scratch_buffer(length);
        let mut ends = Vec::with_capacity(batches.iter().map(|batch| batch.len()).sum());
        for batch in batches {
            for frame in batch.slices() {
                plain.extend_from_slice(frame);
                ends.push(end_of(plain.len()));
            }
        }
        let mut packed = scratch_buffer(zstd::compress_bound(length));
        zstd::bulk::Compressor::new(LEVEL).ok()?.compress_to_buffer(&plain, &mut packed).ok()?;
        if packed.len() + length / 10 > length {
            return None;
        }
        self.segments.start_batch();
        self.segments.reserve(packed.len());
        self.segments.current().extend_from_slice(&packed);
        Some(PackedFrames { first, ends: ends.into(), bytes: self.segments.finish_batch() })
    }

    /// Frees segments that no packed block uses any more.
    pub(super) fn release_unused(&mut self) {
        self.segments.release_unused();
    }
}

/// A temporary buffer. At this size the allocator maps it separately, so that the memory returns to the system when it is dropped
/// instead of fragmenting the heap.
fn scratch_buffer(bytes: usize) -> Vec<u8> {
    Vec::with_capacity(bytes.max(SEGMENT_BYTES))
}

/// Consecutive frames, compressed.
#[derive(Debug)]
pub(super) struct PackedFrames {
    first: Seq,
    /// The end offset of each frame in the uncompressed bytes.
    ends: Box<[u32]>,
    bytes: Bytes,
}

impl PackedFrames {
    /// Decompresses the frames.
    pub(super) fn unpack(&self) -> io::Result<FrameBatch> {
        let bytes = zstd::bulk::decompress(&self.bytes, self.byte_len())?;
        Ok(FrameBatch::new(self.first, FrameBuffer::from_encoded(bytes.into(), self.ends.clone())))
    }

    pub(super) fn first(&self) -> Seq {
        self.first
    }

    pub(super) fn last(&self) -> Seq {
        self.first.before().plus(self.ends.len() as u64)
    }

    /// The uncompressed size.
    fn byte_len(&self) -> usize {
        self.ends.last().map_or(0, |&end| end as usize)
    }

    #[cfg(test)]
    pub(super) fn packed_len(&self) -> usize {
        self.bytes.len()
    }

    /// The offset in the uncompressed bytes at which the first frame after `seq` starts.
    fn offset_after(&self, seq: Seq) -> usize {
        match seq.since(self.first.before()).min(self.ends.len() as u64) as usize {
            0 => 0,
            skip => self.ends[skip - 1] as usize,
        }
    }
}

/// A run of consecutive frames, plain or compressed.
#[derive(Debug, Clone)]
pub(super) enum StoredFrames {
    Plain(Arc<FrameBatch>),
    Packed(Arc<PackedFrames>),
}

impl StoredFrames {
    pub(super) fn first(&self) -> Seq {
        match self {
            StoredFrames::Plain(batch) => batch.first(),
            StoredFrames::Packed(packed) => packed.first(),
        }
    }

    pub(super) fn last(&self) -> Seq {
        match self {
            StoredFrames::Plain(batch) => batch.last(),
            StoredFrames::Packed(packed) => packed.last(),
        }
    }

    /// The uncompressed size.
    pub(super) fn byte_len(&self) -> usize {
        match self {
            StoredFrames::Plain(batch) => batch.byte_len(),
            StoredFrames::Packed(packed) => packed.byte_len(),
        }
    }

    /// The offset in the uncompressed bytes at which the first frame after `seq` starts.
    pub(super) fn offset_after(&self, seq: Seq) -> usize {
        match self {
            StoredFrames::Plain(batch) => batch.offset_after(seq),
            StoredFrames::Packed(packed) => packed.offset_after(seq),
        }
    }
}
