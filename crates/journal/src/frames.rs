//! Frames that have no numbers yet.

use bytes::{Bytes, BytesMut};

/// Some frames in one piece of memory: what an appender hands over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frames {
    bytes: Bytes,
    /// `ends[k]` is where frame `k` ends in `bytes`.
    ends: Box<[u32]>,
}

impl Frames {
    /// One frame, not copied.
    ///
    /// # Panics
    /// When it is longer than 4 GiB; no door lets a frame near that size in.
    pub fn one(frame: impl Into<Bytes>) -> Frames {
        let bytes = frame.into();
        let end = end_of(bytes.len());
        Frames { bytes, ends: Box::new([end]) }
    }

    /// What was rendered into `bytes`, frame `k` ending at `ends[k]`.
    pub(crate) fn rendered(bytes: Bytes, ends: Box<[u32]>) -> Frames {
        debug_assert_eq!(ends.last().map_or(0, |&end| end as usize), bytes.len());
        Frames { bytes, ends }
    }

    /// How many frames there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is nothing to append.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All frames, one after the other.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Where frame `k` starts; for `k == len()`, where the last one ends.
    pub(crate) fn start_of(&self, k: usize) -> usize {
        match k {
            0 => 0,
            _ => self.ends[k - 1] as usize,
        }
    }

    /// Frame `k`, without copying.
    ///
    /// # Panics
    /// When there is no frame `k`.
    pub fn frame(&self, k: usize) -> Bytes {
        self.bytes.slice(self.start_of(k)..self.ends[k] as usize)
    }

    /// The frames as plain slices, in order.
    pub(crate) fn slices(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|k| &self.bytes[self.start_of(k)..self.ends[k] as usize])
    }
}

impl<T: AsRef<[u8]>> FromIterator<T> for Frames {
    /// Copies the frames into one piece of memory.
    fn from_iter<I: IntoIterator<Item = T>>(frames: I) -> Frames {
        let (mut bytes, mut ends) = (BytesMut::new(), Vec::new());
        for frame in frames {
            bytes.extend_from_slice(frame.as_ref());
            ends.push(end_of(bytes.len()));
        }
        Frames { bytes: bytes.freeze(), ends: ends.into() }
    }
}

/// The end offset to note for a frame that ends at `len`.
pub(crate) fn end_of(len: usize) -> u32 {
    assert!(u32::try_from(len).is_ok(), "a batch holds at most 4 GiB");
    len as u32
}
