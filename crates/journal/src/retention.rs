//! How much is kept, and how much there is.

use std::{fmt, num::NonZeroU64};

use crate::{Epoch, Seq};

/// How much a journal keeps: whichever limit is reached first lets the oldest go.
///
/// What was appended last is kept whatever its size, so that it reaches the readers that wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// The most frames that can be read; exact.
    pub events: NonZeroU64,
    /// The most bytes that are kept, in frames.
    pub bytes: NonZeroU64,
}

impl Retention {
    /// Keeps everything: for what is bounded by other means, such as an audit trail on disk.
    pub const UNLIMITED: Retention = Retention { events: NonZeroU64::MAX, bytes: NonZeroU64::MAX };
}

/// What a journal holds at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The incarnation that valid cursors name.
    pub epoch: Epoch,
    /// The oldest frame that can still be read; the one after `newest` when there is none.
    pub oldest: Seq,
    /// The frame appended last; [`Seq::ZERO`] before the first.
    pub newest: Seq,
    /// How many frames can be read.
    pub events: u64,
    /// How many bytes are kept.
    pub bytes: u64,
}

impl Bounds {
    /// What to tell a reader whose next frame is not there.
    pub fn gap(&self) -> Gap {
        Gap { oldest: self.oldest, newest: self.newest }
    }

    /// Whether everything after `position` can be read.
    pub fn follows(&self, position: Seq) -> bool {
        position <= self.newest && position.next() >= self.oldest
    }
}

/// Frames are missing: reading goes on at `oldest`, and `newest` was the last one when this was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The next frame the reader will get; the one after `newest` when nothing is kept.
    pub oldest: Seq,
    /// The frame appended last.
    pub newest: Seq,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kept are {} to {}", self.oldest, self.newest)
    }
}
