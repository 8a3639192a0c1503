//! Why a reader cannot start at a cursor.

use crate::{Gap, JournalBounds};

/// Why a reader could not be opened at a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The cursor belongs to another journal or to an earlier epoch of this one, or lies beyond the newest frame.
    #[error(
        "the cursor does not belong to this journal (epoch {}, frames {} to {}); read again from the start",
        .bounds.epoch, .bounds.oldest, .bounds.newest
    )]
    Unknown {
        /// The bounds of the journal at the time of the request.
        bounds: JournalBounds,
    },
    /// The cursor is valid, but the frame after it was evicted.
    #[error("the cursor has expired: {0}; continue from the oldest frame")]
    Expired(Gap),
}
