//! How many frames a journal retains, and which ones it holds.

use std::{fmt, num::NonZeroU64};

use crate::{Epoch, Seq};

/// The limits of a journal. When either is exceeded, the oldest frames are evicted.
///
/// The newest append is retained whatever its size, so that waiting readers always receive it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// The maximum number of readable frames. Exact: a batch that is partly beyond the limit is partly unreadable.
    pub events: NonZeroU64,
    /// The maximum sum of frame sizes.
    pub bytes: NonZeroU64,
}

impl Retention {
    /// No eviction: for journals that are bounded by other means, such as an audit trail on disk.
    pub const UNLIMITED: Retention = Retention { events: NonZeroU64::MAX, bytes: NonZeroU64::MAX };
}

/// The frames that a journal holds at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalBounds {
    /// The epoch of valid cursors.
    pub epoch: Epoch,
    /// The oldest readable frame; `newest + 1` when the journal is empty.
    pub oldest: Seq,
    /// The newest frame; [`Seq::ZERO`] before the first append.
    pub newest: Seq,
    /// The number of readable frames.
    pub events: u64,
    /// The bytes that count towards [`Retention::bytes`].
    pub bytes: u64,
}

impl JournalBounds {
    /// The gap to report to a reader whose next frame was evicted.
    pub fn gap(&self) -> Gap {
        Gap { oldest: self.oldest, newest: self.newest }
    }

    /// Whether a reader at `position` can continue without a gap.
    pub fn is_readable_after(&self, position: Seq) -> bool {
        position <= self.newest && position.next() >= self.oldest
    }
}

/// Frames were evicted before a reader got to them. Reading continues at `oldest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The next frame the reader gets; `newest + 1` when the journal is empty.
    pub oldest: Seq,
    /// The newest frame when the gap was reported.
    pub newest: Seq,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frames {} to {} are available", self.oldest, self.newest)
    }
}
