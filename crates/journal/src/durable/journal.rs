//! The handle of one journal on disk.

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
    DurableReader, Error, RecordUpdate,
    disk_reserve::LowFlag,
    event_rows::{self, RowRange},
    queue::{AppendRequest, WriterQueue, WriterRequest},
    read_pool::ReadPool,
    record,
};
use crate::{Cursor, FrameBuffer, JournalBounds, RingJournal, Seq, StartPosition};

/// One journal on disk. Clones are handles to the same journal, and any of them may append.
#[derive(Debug, Clone)]
pub struct DurableJournal {
    pub(super) view: Arc<JournalView>,
    pub(super) queue: WriterQueue,
    pub(super) pool: Arc<ReadPool>,
    pub(super) low: LowFlag,
}

/// The state of an open journal that the writer thread publishes to handles and readers.
#[derive(Debug)]
pub(super) struct JournalView {
    pub(super) id: i64,
    /// The committed rows. Updated before the tail, so that it covers every frame that a reader has seen.
    pub(super) row_range: Mutex<RowRange>,
    /// The most recent committed frames, and the readers that wait for more.
    pub(super) tail: RingJournal,
    /// Set before the first row of a deleted journal is removed.
    pub(super) deleted: AtomicBool,
}

impl JournalView {
    pub(super) fn bounds(&self) -> JournalBounds {
        self.row_range.lock().bounds(self.tail.epoch())
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.deleted.load(Ordering::Acquire)
    }
}

impl DurableJournal {
    /// Appends all frames, in order and adjacent to each other; returns their numbers once they are committed.
    ///
    /// The frames stay in memory for a while as they are passed in: do not pass a small slice of a large buffer.
    ///
    /// Dropping the future does not cancel a queued append: the frames may or may not be written.
    ///
    /// # Errors
    /// [`Error::Write`] when the transaction failed and nothing was appended; [`Error::Deleted`], [`Error::Closed`],
    /// [`Error::Died`].
    pub async fn append(&self, frames: FrameBuffer) -> Result<RangeInclusive<Seq>, Error> {
        self.append_with_records(frames, Vec::new()).await
    }

    /// Appends frames and changes records in one transaction: both are committed, or neither.
    ///
    /// # Errors
    /// As [`DurableJournal::append`].
    pub async fn append_with_records(
        &self,
        frames: FrameBuffer,
        records: Vec<RecordUpdate>,
    ) -> Result<RangeInclusive<Seq>, Error> {
        let journal = Arc::clone(&self.view);
        self.queue
            .request(|reply| WriterRequest::Append(AppendRequest { journal, frames, records, reply }))
            .await
    }

    /// The value of a record, if it exists.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Died`].
    pub async fn record(&self, kind: &'static str, key: String) -> Result<Option<Bytes>, Error> {
        let journal = self.view.id;
        Arc::clone(&self.pool).run(move |conn| record::find(conn, journal, kind, &key)).await
    }

    /// The first `limit` records of a kind with keys greater than `after`, ordered by key.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Died`].
    pub async fn records(
        &self,
        kind: &'static str,
        after: String,
        limit: u32,
    ) -> Result<Vec<(String, Bytes)>, Error> {
        let journal = self.view.id;
        Arc::clone(&self.pool).run(move |conn| record::list_after(conn, journal, kind, &after, limit)).await
    }

    /// The last `limit` records of a kind, ordered by key.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Died`].
    pub async fn last_records(&self, kind: &'static str, limit: u32) -> Result<Vec<(String, Bytes)>, Error> {
        let journal = self.view.id;
        Arc::clone(&self.pool).run(move |conn| record::list_last(conn, journal, kind, limit)).await
    }

    /// Whether the store [lacks its reserve](super::JournalStore::is_low).
    pub fn is_low(&self) -> bool {
        self.low.get()
    }

    /// The committed frames.
    pub fn bounds(&self) -> JournalBounds {
        self.view.bounds()
    }

    /// The size of all committed frames after `seq`.
    ///
    /// If the row of `seq` is not indexed yet, the result also counts that row and the unindexed rows before it: a few of
    /// the newest.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Died`].
    pub async fn bytes_after(&self, seq: Seq) -> Result<u64, Error> {
        let journal = self.view.id;
        let total = self.view.row_range.lock().total_bytes();
        let read =
            Arc::clone(&self.pool).run(move |conn| event_rows::bytes_through(conn, journal, seq)).await?;
        // Rows that were committed after `total` was read may already be counted in `read`.
        Ok(total.saturating_sub(read))
    }

    /// The cursor for the position `seq` in this journal's epoch.
    pub fn cursor(&self, seq: Seq) -> Cursor {
        self.view.tail.cursor(seq)
    }

    /// The number of open readers.
    pub fn readers(&self) -> usize {
        self.view.tail.readers()
    }

    /// Opens a reader that replays from `start` and then follows new appends.
    ///
    /// # Errors
    /// For [`StartPosition::After`]: [`crate::Error::Unknown`] and [`crate::Error::Expired`].
    pub fn reader(&self, start: StartPosition) -> Result<DurableReader, crate::Error> {
        let start = start.resolve(&self.bounds())?;
        Ok(DurableReader::new(Arc::clone(&self.view), Arc::clone(&self.pool), start))
    }

    /// Marks the journal as complete for now: readers end after the newest frame. Not stored on disk.
    pub fn seal(&self) {
        self.view.tail.set_sealed(true);
    }

    /// Lets readers wait for further frames again.
    pub fn unseal(&self) {
        self.view.tail.set_sealed(false);
    }
}
