//! Why a journal cannot be read from where a caller asked.

use crate::{Bounds, Gap, Seq, Start};

/// Why a reader could not be opened where it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The cursor is of another journal or another life of this one, or lies in the future.
    #[error("the cursor is not of this journal, which is {} at {} to {}", .bounds.epoch, .bounds.oldest, .bounds.newest)]
    Unknown {
        /// What the journal held when it was asked.
        bounds: Bounds,
    },
    /// The cursor is right, but what follows it is no longer kept.
    #[error("the cursor has expired: {0}")]
    Expired(Gap),
}

/// Where a reader starts: its position, and whether it must be told of a gap first.
pub(crate) fn place(bounds: &Bounds, from: Start) -> Result<(Seq, bool), Error> {
    match from {
        Start::Oldest => Ok((bounds.oldest.before(), false)),
        Start::Newest => Ok((bounds.newest, false)),
        Start::Resume(seq) if bounds.follows(seq) => Ok((seq, false)),
        Start::Resume(_) => Ok((bounds.oldest.before(), true)),
        Start::After(cursor) if cursor.epoch != bounds.epoch || cursor.seq > bounds.newest => {
            Err(Error::Unknown { bounds: *bounds })
        }
        Start::After(cursor) if !bounds.follows(cursor.seq) => Err(Error::Expired(bounds.gap())),
        Start::After(cursor) => Ok((cursor.seq, false)),
    }
}
