//! The memory that batches are rendered into.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

/// The size of one piece of memory that batches share.
///
/// Pieces of one size go back to the system one by one; an allocation per batch leaves twice the memory in use. Smaller
/// ones would not be mapped on their own, larger ones leave more unused in a small ring.
pub const SEGMENT_BYTES: usize = 128 * 1024;

/// A batch that is larger gets memory of its own, so that it does not leave much of a segment unused.
const SHARED_BYTES_MAX: usize = SEGMENT_BYTES / 2;

/// How many full segments are looked at, oldest first, for one that nobody reads any more.
const LOOKED_AT_MAX: usize = 8;

/// Hands out the parts of one segment after the other, and uses segments again when all their parts were let go:
/// new memory is cleared by the system page by page, which costs more than rendering into it.
#[derive(Debug, Default)]
pub(super) struct Segments {
    /// None before the first batch.
    current: Option<BytesMut>,
    /// What is rendered now, when it is too large for a segment.
    own: Option<BytesMut>,
    /// Segments that are full, oldest first. Each has parts that are read or kept, so it holds no memory that would be
    /// free without it.
    full: VecDeque<BytesMut>,
}

impl Segments {
    /// Begins a batch: what was rendered and not finished is forgotten.
    pub(super) fn begin(&mut self) {
        self.own = None;
        if let Some(current) = &mut self.current {
            current.clear();
        }
    }

    /// The buffer of the batch that was begun.
    pub(super) fn current(&mut self) -> &mut BytesMut {
        let shared = || BytesMut::with_capacity(SEGMENT_BYTES);
        self.own.as_mut().unwrap_or_else(|| self.current.get_or_insert_with(shared))
    }

    /// Whether `additional` bytes fit beside what was rendered.
    pub(super) fn has_room(&mut self, additional: usize) -> bool {
        let buffer = self.current();
        buffer.capacity() - buffer.len() >= additional
    }

    /// Makes room for `additional` bytes: when they do not fit, what was rendered since `begin` moves to a new
    /// segment, or to a piece of its own if it is too large for one.
    pub(super) fn reserve(&mut self, additional: usize) {
        if self.has_room(additional) {
            return;
        }
        let rendered = self.current().split();
        let needed = rendered.len().saturating_add(additional);
        if needed > SHARED_BYTES_MAX {
            self.own = Some(BytesMut::with_capacity(needed));
        } else {
            let next = self.next();
            self.full.extend(self.current.replace(next));
        }
        self.current().extend_from_slice(&rendered);
    }

    /// What was rendered since `begin`.
    pub(super) fn finish(&mut self) -> Bytes {
        match self.own.take() {
            Some(own) => own.freeze(),
            None => self.current().split().freeze(),
        }
    }

    /// Gives the segments back that nobody reads any more.
    pub(super) fn forget_free(&mut self) {
        self.full.retain_mut(|segment| !segment.try_reclaim(SEGMENT_BYTES));
    }

    /// An empty segment: one that nobody reads any more, or a new one.
    fn next(&mut self) -> BytesMut {
        let mut oldest = self.full.iter_mut().take(LOOKED_AT_MAX);
        let free = oldest.position(|segment| segment.try_reclaim(SEGMENT_BYTES));
        let again = free.and_then(|at| self.full.remove(at));
        again.unwrap_or_else(|| BytesMut::with_capacity(SEGMENT_BYTES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(segments: &mut Segments, bytes: usize) -> Bytes {
        segments.begin();
        segments.reserve(bytes);
        let start = segments.current().len();
        segments.current().resize(start + bytes, b'x');
        segments.finish()
    }

    #[test]
    fn a_segment_is_used_again_when_nobody_reads_it() {
        let mut segments = Segments::default();
        let first: Vec<_> = (0..2).map(|_| render(&mut segments, SHARED_BYTES_MAX)).collect();
        let address = first[0].as_ptr();
        // The first segment is full: the next ones take others as long as a part of it is read.
        let second: Vec<_> = (0..2).map(|_| render(&mut segments, SHARED_BYTES_MAX)).collect();
        assert_ne!(second[0].as_ptr(), address);
        assert_eq!(segments.full.len(), 1);
        drop(first);
        let third = render(&mut segments, SHARED_BYTES_MAX);
        assert_eq!(third.as_ptr(), address);
        assert_eq!(segments.full.len(), 1, "the second took the place of the first");
        assert!(second.iter().all(|part| part.iter().all(|byte| *byte == b'x')));
    }

    #[test]
    fn a_large_batch_leaves_the_segment_to_the_small_ones() {
        let mut segments = Segments::default();
        let before = render(&mut segments, 100);
        let large = render(&mut segments, SEGMENT_BYTES * 2);
        let after = render(&mut segments, 100);
        assert_eq!(large.len(), SEGMENT_BYTES * 2);
        assert_eq!(after.as_ptr(), before.as_ptr().wrapping_add(100), "side by side");
    }
}
