//! One journal on disk, as its users hold it.

use std::{
    ops::RangeInclusive,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use parking_lot::Mutex;

use super::{
    Error, Note, Reader,
    ledger::{self, Marks},
    note,
    pool::Pool,
    queue::{Queue, Request, Work},
};
use crate::{Append, Bounds, Cursor, Frames, Journal, Ring, Seq, Start};

/// One journal on disk; clones are handles to the same journal, and any of them may append.
#[derive(Debug, Clone)]
pub struct Durable {
    pub(super) shared: Arc<Shared>,
    pub(super) queue: Queue,
    pub(super) pool: Arc<Pool>,
}

/// What the writer thread shows of a journal.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) id: i64,
    /// What is committed and published. Never behind the tail.
    pub(super) marks: Mutex<Marks>,
    /// The last committed frames, and who waits for more.
    pub(super) tail: Ring,
    /// Set before the first of its rows is removed.
    pub(super) deleted: AtomicBool,
}

impl Shared {
    pub(super) fn bounds(&self) -> Bounds {
        self.marks.lock().bounds(self.tail.epoch())
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.deleted.load(Ordering::Acquire)
    }
}

impl Durable {
    /// Appends all frames, in order and side by side; answers with their numbers once they are committed.
    ///
    /// A frame is kept in memory for a while as it was handed over: do not pass a small slice of something large.
    ///
    /// Dropping the future does not take back what was queued: the frames may be appended or not.
    ///
    /// # Errors
    /// [`Error::Write`] when the file refuses them, and nothing was appended; [`Error::Deleted`], [`Error::Closed`],
    /// [`Error::Died`].
    pub async fn append(&self, frames: Frames) -> Result<RangeInclusive<Seq>, Error> {
        self.append_noting(frames, Vec::new()).await
    }

    /// As [`Durable::append`], and changes notes with it: both are committed, or neither.
    ///
    /// # Errors
    /// As [`Durable::append`].
    pub async fn append_noting(
        &self,
        frames: Frames,
        notes: Vec<Note>,
    ) -> Result<RangeInclusive<Seq>, Error> {
        let journal = Arc::clone(&self.shared);
        self.queue.ask(|reply| Request::Append(Work { journal, frames, notes, reply })).await
    }

    /// What a note says, if there is one.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Died`].
    pub async fn note(&self, kind: &'static str, key: String) -> Result<Option<Bytes>, Error> {
        let journal = self.shared.id;
        Arc::clone(&self.pool).run(move |conn| note::one(conn, journal, kind, &key)).await
    }

    /// The first `most` notes of a kind whose keys come after `after`, in the order of their keys.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Died`].
    pub async fn notes(
        &self,
        kind: &'static str,
        after: String,
        most: u32,
    ) -> Result<Vec<(String, Bytes)>, Error> {
        let journal = self.shared.id;
        Arc::clone(&self.pool).run(move |conn| note::some(conn, journal, kind, &after, most)).await
    }

    /// The last `most` notes of a kind, in the order of their keys.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Died`].
    pub async fn last_notes(&self, kind: &'static str, most: u32) -> Result<Vec<(String, Bytes)>, Error> {
        let journal = self.shared.id;
        Arc::clone(&self.pool).run(move |conn| note::last(conn, journal, kind, most)).await
    }

    /// What is committed now.
    pub fn bounds(&self) -> Bounds {
        self.shared.bounds()
    }

    /// The bytes of all frames after `seq` that are committed now. If the frame at `seq` has no place in the file yet, it
    /// and those before it that have none count too, which are a few of the last.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Died`].
    pub async fn bytes_after(&self, seq: Seq) -> Result<u64, Error> {
        let (journal, upto) = (self.shared.id, self.shared.marks.lock().upto());
        let read = Arc::clone(&self.pool).run(move |conn| ledger::upto(conn, journal, seq)).await?;
        // More may have come in between.
        Ok(upto.saturating_sub(read))
    }

    /// The position `seq` in this journal's epoch.
    pub fn cursor(&self, seq: Seq) -> Cursor {
        self.shared.tail.cursor(seq)
    }

    /// How many readers are open.
    pub fn readers(&self) -> usize {
        self.shared.tail.readers()
    }

    /// A reader from `from` on: replay and live tail in one.
    ///
    /// # Errors
    /// For [`Start::After`]: [`crate::Error::Unknown`] and [`crate::Error::Expired`].
    pub fn reader(&self, from: Start) -> Result<Reader, crate::Error> {
        let (position, gap) = crate::error::place(&self.bounds(), from)?;
        Ok(Reader::new(Arc::clone(&self.shared), Arc::clone(&self.pool), position, gap))
    }

    /// Nothing more is to come for now: a reader that has read everything is at the end. Not kept on disk.
    pub fn seal(&self) {
        self.shared.tail.set_sealed(true);
    }

    /// More may come again: new reads wait for it.
    pub fn unseal(&self) {
        self.shared.tail.set_sealed(false);
    }
}

impl Journal for Durable {
    type Reader = Reader;

    fn bounds(&self) -> Bounds {
        Durable::bounds(self)
    }

    fn cursor(&self, seq: Seq) -> Cursor {
        Durable::cursor(self, seq)
    }

    fn readers(&self) -> usize {
        Durable::readers(self)
    }

    fn reader(&self, from: Start) -> Result<Reader, crate::Error> {
        Durable::reader(self, from)
    }
}

impl Append for Durable {
    type Error = Error;

    async fn append(&mut self, frames: Frames) -> Result<RangeInclusive<Seq>, Error> {
        Durable::append(self, frames).await
    }

    fn seal(&mut self) {
        Durable::seal(self);
    }

    fn unseal(&mut self) {
        Durable::unseal(self);
    }
}
