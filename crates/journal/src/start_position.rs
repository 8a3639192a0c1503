//! Where a reader starts.

use crate::{Cursor, Error, JournalBounds, Seq};

/// Where a new reader starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartPosition {
    /// At the oldest retained frame.
    Oldest,
    /// After the newest frame: only frames appended from now on.
    Newest,
    /// After a cursor. The cursor must belong to this journal, and the frame after it must still be retained.
    After(Cursor),
    /// After a bare number, for protocols whose ids carry no epoch. This always succeeds: if the frame after the number
    /// is not available, the reader's first item is a gap, and it continues from the oldest frame. The reader registers
    /// itself before it returns the gap, so frames cannot be evicted unnoticed in between.
    Resume(Seq),
}

/// A start position checked against the bounds of a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResolvedStart {
    /// The reader continues after this frame.
    pub(crate) position: Seq,
    /// The reader must first report that the requested frames are not available.
    pub(crate) gap_pending: bool,
}

impl StartPosition {
    pub(crate) fn resolve(self, bounds: &JournalBounds) -> Result<ResolvedStart, Error> {
        let at = |position| Ok(ResolvedStart { position, gap_pending: false });
        match self {
            Self::Oldest => at(bounds.oldest.before()),
            Self::Newest => at(bounds.newest),
            Self::Resume(seq) if bounds.is_readable_after(seq) => at(seq),
            Self::Resume(_) => Ok(ResolvedStart { position: bounds.oldest.before(), gap_pending: true }),
            Self::After(cursor) if cursor.epoch != bounds.epoch || cursor.seq > bounds.newest => {
                Err(Error::Unknown { bounds: *bounds })
            }
            Self::After(cursor) if !bounds.is_readable_after(cursor.seq) => Err(Error::Expired(bounds.gap())),
            Self::After(cursor) => at(cursor.seq),
        }
    }
}
