//! The memory that batches are encoded into.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

/// The size of a segment, a piece of memory that several batches share.
///
/// Pieces of one size return to the system individually, while one allocation per batch fragments the heap and doubles
/// the memory in use. The program tells the allocator to map allocations of this size separately. The size is a compromise:
/// larger segments leave more unused memory in small rings, and smaller ones would force that rule on the buffers of
/// file transfers, which are faster in the heap.
pub const SEGMENT_BYTES: usize = 256 * 1024;

/// A larger batch gets an allocation of its own, as it would leave much of a segment unused.
const SHARED_BYTES_MAX: usize = SEGMENT_BYTES / 2;

/// The number of full segments, oldest first, that are checked for reuse.
const REUSE_CANDIDATES_MAX: usize = 8;

/// Hands out parts of one segment after the other and reuses segments whose parts have all been dropped. Reuse pays: the
/// kernel clears new memory page by page, which costs more than encoding into it.
#[derive(Debug, Default)]
pub(super) struct SegmentPool {
    /// `None` before the first batch.
    current: Option<BytesMut>,
    /// The buffer of the current batch if it is too large for a segment.
    oversized: Option<BytesMut>,
    /// Full segments, oldest first. Readers or the ring still hold parts of each, so keeping it here costs no extra memory.
    full: VecDeque<BytesMut>,
}

impl SegmentPool {
    /// Starts a batch and discards an unfinished one.
    pub(super) fn start_batch(&mut self) {
        self.oversized = None;
        if let Some(current) = &mut self.current {
            current.clear();
        }
    }

    /// The buffer of the current batch.
    pub(super) fn current(&mut self) -> &mut BytesMut {
        let new_segment = || BytesMut::with_capacity(SEGMENT_BYTES);
        self.oversized.as_mut().unwrap_or_else(|| self.current.get_or_insert_with(new_segment))
    }

    /// Whether `additional` bytes fit without moving the current batch.
    pub(super) fn has_room(&mut self, additional: usize) -> bool {
        let buffer = self.current();
        buffer.capacity() - buffer.len() >= additional
    }

    /// Reserves space for `additional` bytes. If they do not fit, the current batch moves to another segment, or to an
    /// allocation of its own if it is too large for one.
    pub(super) fn reserve(&mut self, additional: usize) {
        if self.has_room(additional) {
            return;
        }
        let encoded = self.current().split();
        let needed = encoded.len().saturating_add(additional);
        if needed > SHARED_BYTES_MAX {
            // At least a segment's size, so that the allocator maps it separately too.
            self.oversized = Some(BytesMut::with_capacity(needed.max(SEGMENT_BYTES)));
        } else {
            let next = self.take_empty();
            self.full.extend(self.current.replace(next));
        }
        self.current().extend_from_slice(&encoded);
    }

    /// Ends the batch and returns its bytes.
    pub(super) fn finish_batch(&mut self) -> Bytes {
        match self.oversized.take() {
            Some(oversized) => oversized.freeze(),
            None => self.current().split().freeze(),
        }
    }

    /// Frees the full segments that nothing refers to any more.
    pub(super) fn release_unused(&mut self) {
        self.full.retain_mut(|segment| !segment.try_reclaim(SEGMENT_BYTES));
    }

    /// An empty segment: a full one that nothing refers to any more, or a new one.
    fn take_empty(&mut self) -> BytesMut {
        let mut oldest = self.full.iter_mut().take(REUSE_CANDIDATES_MAX);
        let free = oldest.position(|segment| segment.try_reclaim(SEGMENT_BYTES));
        let reused = free.and_then(|at| self.full.remove(at));
        reused.unwrap_or_else(|| BytesMut::with_capacity(SEGMENT_BYTES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(segments: &mut SegmentPool, bytes: usize) -> Bytes {
        segments.start_batch();
        segments.reserve(bytes);
        let start = segments.current().len();
        segments.current().resize(start + bytes, b'x');
        segments.finish_batch()
    }

    #[test]
    fn a_segment_is_reused_when_all_its_parts_were_dropped() {
        let mut segments = SegmentPool::default();
        let first: Vec<_> = (0..2).map(|_| render(&mut segments, SHARED_BYTES_MAX)).collect();
        let address = first[0].as_ptr();
        // The first segment is full. Later batches use other segments until all parts of it are dropped.
        let second: Vec<_> = (0..2).map(|_| render(&mut segments, SHARED_BYTES_MAX)).collect();
        assert_ne!(second[0].as_ptr(), address);
        assert_eq!(segments.full.len(), 1);
        drop(first);
        let third = render(&mut segments, SHARED_BYTES_MAX);
        assert_eq!(third.as_ptr(), address);
        assert_eq!(segments.full.len(), 1, "the second segment replaced the first one in the list");
        assert!(second.iter().all(|part| part.iter().all(|byte| *byte == b'x')));
    }

    #[test]
    fn a_large_batch_does_not_use_up_the_current_segment() {
        let mut segments = SegmentPool::default();
        let before = render(&mut segments, 100);
        let large = render(&mut segments, SEGMENT_BYTES * 2);
        let after = render(&mut segments, 100);
        assert_eq!(large.len(), SEGMENT_BYTES * 2);
        assert_eq!(after.as_ptr(), before.as_ptr().wrapping_add(100), "adjacent in the same segment");
    }
}
