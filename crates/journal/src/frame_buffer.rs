//! Frames that are not numbered yet: the argument of an append.

use bytes::{Bytes, BytesMut};

/// Zero or more frames, concatenated in one allocation, to be appended together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrameBuffer {
    bytes: Bytes,
    /// `ends[k]` is the offset in `bytes` at which frame `k` ends.
    ends: Box<[u32]>,
}

impl FrameBuffer {
    /// A single frame, without copying it.
    ///
    /// # Panics
    /// When it is longer than 4 GiB. Callers limit frames to far less than that.
    pub fn one(frame: impl Into<Bytes>) -> FrameBuffer {
        let bytes = frame.into();
        let end = end_of(bytes.len());
        FrameBuffer { bytes, ends: Box::new([end]) }
    }

    /// Wraps frames that were encoded into `bytes`, frame `k` ending at `ends[k]`.
    pub(crate) fn from_encoded(bytes: Bytes, ends: Box<[u32]>) -> FrameBuffer {
        debug_assert_eq!(ends.last().map_or(0, |&end| end as usize), bytes.len());
        FrameBuffer { bytes, ends }
    }

    /// The number of frames.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no frame.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The concatenated frames.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The offset at which frame `k` starts; for `k == len()`, the end of the last frame.
    pub(crate) fn start_of(&self, k: usize) -> usize {
        if k == 0 { 0 } else { self.ends[k - 1] as usize }
    }

    /// Frame `k`, without copying.
    ///
    /// # Panics
    /// When there is no frame `k`.
    pub fn frame(&self, k: usize) -> Bytes {
        self.bytes.slice(self.start_of(k)..self.ends[k] as usize)
    }

    /// The frames as slices, in order.
    pub(crate) fn slices(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|k| &self.bytes[self.start_of(k)..self.ends[k] as usize])
    }
}

impl<T: AsRef<[u8]>> FromIterator<T> for FrameBuffer {
    /// Copies the frames into one allocation.
    fn from_iter<I: IntoIterator<Item = T>>(frames: I) -> FrameBuffer {
        let mut bytes = BytesMut::new();
        let mut ends = Vec::new();
        for frame in frames {
            bytes.extend_from_slice(frame.as_ref());
            ends.push(end_of(bytes.len()));
        }
        FrameBuffer { bytes: bytes.freeze(), ends: ends.into() }
    }
}

/// Converts a length to an end offset. Four bytes per frame halve the memory that offsets take.
pub(crate) fn end_of(len: usize) -> u32 {
    assert!(u32::try_from(len).is_ok(), "a batch holds at most 4 GiB");
    len as u32
}
