//! What all journals can do, whatever keeps them.

use std::{future::Future, ops::RangeInclusive};

use crate::{Bounds, Cursor, Error, Frames, Item, Seq, Start};

/// The reading side of a journal: a cheap handle, which is all that a door needs.
pub trait Journal: Clone + Send + Sync + 'static {
    /// What follows it.
    type Reader: Follow + 'static;

    /// What it holds now.
    fn bounds(&self) -> Bounds;

    /// The position `seq` in the current epoch.
    fn cursor(&self, seq: Seq) -> Cursor;

    /// How many readers are open.
    fn readers(&self) -> usize;

    /// A reader from `from` on: replay and live tail in one.
    ///
    /// # Errors
    /// For [`Start::After`]: [`Error::Unknown`] and [`Error::Expired`]. The other starts always succeed.
    fn reader(&self, from: Start) -> Result<Self::Reader, Error>;
}

/// The writing side of a journal.
pub trait Append: Send + 'static {
    /// Why an append can fail.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Appends all frames, in order and side by side, and answers with their numbers (an empty range for none).
    ///
    /// When it returns, the frames are as safe as the backend makes them, and no reader saw them before that.
    fn append(
        &mut self,
        frames: Frames,
    ) -> impl Future<Output = Result<RangeInclusive<Seq>, Self::Error>> + Send;

    /// Nothing more is to come for now: a reader that has read everything is at the end.
    fn seal(&mut self);

    /// More may come again: new reads wait for it.
    fn unseal(&mut self);
}

/// A reader of a journal.
pub trait Follow: Send {
    /// Why a read can fail.
    type Error: std::error::Error + Send + Sync + 'static;

    /// The next item, waiting for it; `None` when the journal is sealed and everything was read.
    ///
    /// Cancel safe: an item is taken when the future is ready, or not at all.
    fn next(&mut self) -> impl Future<Output = Result<Option<Item>, Self::Error>> + Send;

    /// The position of the last frame it took, to go on from later.
    fn cursor(&self) -> Cursor;
}
