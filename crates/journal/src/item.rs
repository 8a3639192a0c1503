//! The items that readers return.

use crate::{FrameChunk, Gap};

/// The next item of a reader.
#[derive(Debug, Clone)]
pub enum JournalItem {
    /// The frames that follow the reader's position.
    Frames(FrameChunk),
    /// The frames that follow the reader's position were evicted. The reader returns this once and then continues at the
    /// gap's `oldest` frame, unless that one is evicted too before the next read: then another gap follows.
    Gap(Gap),
}
