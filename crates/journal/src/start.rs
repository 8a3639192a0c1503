//! Where reading begins and what it yields.

use crate::{Chunk, Cursor, Gap, Seq};

/// Where a new reader starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// At the oldest frame that is kept.
    Oldest,
    /// After the newest: only what is still to come.
    Newest,
    /// After a cursor, which must be one of this journal and still kept.
    After(Cursor),
    /// After a bare number, for doors whose ids carry no epoch. If what follows it is not kept, or it lies in the
    /// future, the reader opens all the same: its first item is the gap, and it goes on from the oldest frame. Gap
    /// and continuation are one step, so nothing can slip away between them.
    Resume(Seq),
}

/// What a reader gets next.
#[derive(Debug, Clone)]
pub enum Item {
    /// The frames that follow its position.
    Frames(Chunk),
    /// They are no longer kept; said once, and the next item starts at the gap's `oldest` or tells of a new gap.
    Gap(Gap),
}
