//! The memory that batches are rendered into.

use bytes::{Bytes, BytesMut};

/// The size of one piece of memory that batches share.
///
/// Pieces of one size go back to the system one by one; an allocation per batch leaves twice the memory in use.
pub const SEGMENT_BYTES: usize = 256 * 1024;

/// A batch is begun in what is left of a segment only if that much is left: one read of a pipe usually fits.
const LEFT_MIN: usize = 64 * 1024;

/// Hands out the parts of one segment after the other.
#[derive(Debug, Default)]
pub(super) struct Segments {
    current: BytesMut,
}

impl Segments {
    /// An empty buffer with room for a usual batch.
    pub(super) fn begin(&mut self) -> &mut BytesMut {
        self.current.clear();
        if self.current.capacity() < LEFT_MIN {
            self.current = BytesMut::with_capacity(SEGMENT_BYTES);
        }
        &mut self.current
    }

    /// The buffer that was begun.
    pub(super) fn current(&mut self) -> &mut BytesMut {
        &mut self.current
    }

    /// Makes room for `additional` bytes: when they do not fit, what was rendered since `begin` moves to a new
    /// segment, or to a piece of its own if it is larger than one.
    pub(super) fn reserve(&mut self, additional: usize) {
        let needed = self.current.len().saturating_add(additional);
        if self.current.capacity() < needed {
            let mut larger = BytesMut::with_capacity(needed.max(SEGMENT_BYTES));
            larger.extend_from_slice(&self.current);
            self.current = larger;
        }
    }

    /// What was rendered since `begin`.
    pub(super) fn finish(&mut self) -> Bytes {
        self.current.split().freeze()
    }
}
