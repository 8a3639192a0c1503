//! Rendering a batch in place.

use std::time::Instant;

use bytes::BytesMut;

use crate::{Batch, Chunk, Frames, Seq, Writer, frames::end_of};

/// Renders frames that contain their own number, then appends them as one batch.
///
/// It borrows the writer, so the numbers it hands out are the ones the frames get. Dropped, it appends nothing.
#[derive(Debug)]
#[must_use = "nothing is appended before `append`"]
pub struct BatchBuilder<'w> {
    writer: &'w mut Writer,
}

impl<'w> BatchBuilder<'w> {
    pub(super) fn new(writer: &'w mut Writer) -> BatchBuilder<'w> {
        writer.segments.begin();
        writer.ends.clear();
        BatchBuilder { writer }
    }

    /// The number of the next frame.
    pub fn next_seq(&self) -> Seq {
        self.writer.next_seq().plus(self.len() as u64)
    }

    /// How many frames were rendered.
    pub fn len(&self) -> usize {
        self.writer.ends.len()
    }

    /// Whether no frame was rendered yet.
    pub fn is_empty(&self) -> bool {
        self.writer.ends.is_empty()
    }

    /// Whether so many bytes more fit without moving what was rendered. If not, it is best to append this batch and
    /// to begin another.
    pub fn has_room(&mut self, additional: usize) -> bool {
        self.writer.segments.has_room(additional)
    }

    /// Makes room for so many bytes more; called before a frame of known size, it saves growing while rendering.
    pub fn reserve(&mut self, additional: usize) {
        self.writer.segments.reserve(additional);
    }

    /// Renders one frame: `render` gets its number and adds its bytes to the end of the buffer.
    ///
    /// # Panics
    /// When the batch grows over 4 GiB.
    pub fn push(&mut self, render: impl FnOnce(Seq, &mut BytesMut)) -> Seq {
        let seq = self.next_seq();
        let buffer = self.writer.segments.current();
        render(seq, buffer);
        let end = end_of(buffer.len());
        self.writer.ends.push(end);
        seq
    }

    /// Whether appending this would take from a reader that keeps up what it has not read: the ring is small, or the
    /// batch is large. Like [`Writer::pressed`], it is to be looked at again every millisecond or so.
    pub fn pushes_out(&mut self, now: Instant) -> bool {
        let (events, bytes) = (self.len() as u64, self.writer.segments.current().len() as u64);
        events > 0 && self.writer.ring().shared.state.lock().pushes_out(now, events, bytes)
    }

    /// Appends what was rendered; `None` if that is nothing.
    ///
    /// The chunk is the batch as readers get it, so a caller can answer with a slice of the same memory.
    pub fn append(self) -> Option<Chunk> {
        if self.is_empty() {
            return None;
        }
        let frames = Frames::rendered(self.writer.segments.finish(), self.writer.ends.as_slice().into());
        let first = self.writer.next_seq();
        Some(self.writer.publish(Batch::new(first, frames)))
    }
}
