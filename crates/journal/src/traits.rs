//! What all journals can do, whatever keeps them.

use std::{future::Future, ops::RangeInclusive};

use crate::{Bounds, Error, Frames, Item, Start};

/// A journal that can be appended to and followed.
pub trait Journal: Send {
    /// What follows it.
    type Reader: Follow;
    /// Why an append can fail.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Appends all frames, in order and side by side, and answers with their numbers (an empty range for none).
    ///
    /// When it returns, the frames are as safe as the backend makes them, and no reader saw them before that.
    fn append(
        &mut self,
        frames: Frames,
    ) -> impl Future<Output = Result<RangeInclusive<crate::Seq>, Self::Error>> + Send;

    /// Nothing more is to come for now: a reader that has read everything is at the end.
    fn seal(&mut self);

    /// More may come again: new reads wait for it.
    fn unseal(&mut self);

    /// What it holds now.
    fn bounds(&self) -> Bounds;

    /// A reader from `from` on: replay and live tail in one.
    ///
    /// # Errors
    /// For [`Start::After`]: [`Error::Unknown`] and [`Error::Expired`]. The other starts always succeed.
    fn reader(&self, from: Start) -> Result<Self::Reader, Error>;
}

/// A reader of a journal.
pub trait Follow: Send {
    /// Why a read can fail.
    type Error: std::error::Error + Send + Sync + 'static;

    /// The next item, waiting for it; `None` when the journal is sealed and everything was read.
    ///
    /// Cancel safe: an item is taken when the future is ready, or not at all.
    fn next(&mut self) -> impl Future<Output = Result<Option<Item>, Self::Error>> + Send;
}
