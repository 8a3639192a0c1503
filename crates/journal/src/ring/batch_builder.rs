//! Encoding a batch in place.

use std::time::Instant;

use bytes::BytesMut;

use crate::{FrameBatch, FrameBuffer, FrameChunk, RingWriter, Seq, frame_buffer::end_of};

/// Encodes frames that contain their own number, then appends them as one batch.
///
/// It borrows the writer exclusively, so the frames get exactly the numbers that it hands out. Dropping it appends nothing.
#[derive(Debug)]
#[must_use = "nothing is appended before `append`"]
pub struct BatchBuilder<'w> {
    writer: &'w mut RingWriter,
}

impl<'w> BatchBuilder<'w> {
    pub(super) fn new(writer: &'w mut RingWriter) -> BatchBuilder<'w> {
        writer.segments.start_batch();
        writer.ends.clear();
        BatchBuilder { writer }
    }

    /// The number of the next frame.
    pub fn next_seq(&self) -> Seq {
        self.writer.next_seq().plus(self.len() as u64)
    }

    /// The number of frames encoded so far.
    pub fn len(&self) -> usize {
        self.writer.ends.len()
    }

    /// Whether no frame was encoded yet.
    pub fn is_empty(&self) -> bool {
        self.writer.ends.is_empty()
    }

    /// Whether `additional` bytes fit without moving the encoded frames to another segment. If not, it is cheaper to append
    /// this batch and start another one.
    pub fn has_room(&mut self, additional: usize) -> bool {
        self.writer.segments.has_room(additional)
    }

    /// Reserves space for `additional` bytes. Calling it before a frame of known size avoids reallocation while encoding.
    pub fn reserve(&mut self, additional: usize) {
        self.writer.segments.reserve(additional);
    }

    /// Adds one frame: `encode` gets its number and appends its bytes to the buffer.
    ///
    /// # Panics
    /// When the batch exceeds 4 GiB.
    pub fn push(&mut self, encode: impl FnOnce(Seq, &mut BytesMut)) -> Seq {
        let seq = self.next_seq();
        let buffer = self.writer.segments.current();
        encode(seq, buffer);
        let end = end_of(buffer.len());
        self.writer.ends.push(end);
        seq
    }

    /// Whether appending this batch would evict frames that a reader that keeps up has not read; possible in a small ring or
    /// with a large batch. The caller polls it about every millisecond, as for [`RingWriter::should_pause`].
    pub fn would_overrun_reader(&mut self, now: Instant) -> bool {
        let events = self.len() as u64;
        let bytes = self.writer.segments.current().len() as u64;
        events > 0 && self.writer.ring().shared.state.lock().would_overrun_reader(now, events, bytes)
    }

    /// Appends the batch; `None` if it is empty.
    ///
    /// The returned chunk shares the memory that readers get, so that the caller can pass parts of it on without copying.
    pub fn append(self) -> Option<FrameChunk> {
        if self.is_empty() {
            return None;
        }
        let bytes = self.writer.segments.finish_batch();
        let frames = FrameBuffer::from_encoded(bytes, self.writer.ends.as_slice().into());
        let first = self.writer.next_seq();
        Some(self.writer.publish(FrameBatch::new(first, frames)))
    }
}
