//! The index from a journal and sequence number to a row, written behind the rows.
//!
//! Rows of all journals lie in the order of their arrival, so an append touches one page whatever the number of journals.
//! An index that was updated with each row would undo that: it would touch a different page for each journal. Therefore
//! this index (the table `places`) is written later, many rows of one journal at a time.
//!
//! Readers do not notice: rows that are not indexed yet are still in the journal's in-memory tail. After a crash,
//! [`RowIndex::open`] indexes them by scanning the newest rows. `placed` stores how far the index is complete; the limits
//! below keep the part after it short.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::writer_thread::TAIL_BYTES;
use crate::Seq;

/// The rows of a journal are indexed when there are this many without an index entry, …
const UNINDEXED_EVENTS: usize = 64;
/// … or this many bytes of them (well within the journal's tail, which must still hold them), …
const UNINDEXED_BYTES: u64 = TAIL_BYTES.get() / 8;
/// … or when this many rows of any journal follow the first of them.
const UNINDEXED_AGE_ROWS: i64 = 8192;

/// `placed` is updated when it is behind by this many rows. A start after a crash scans at most that many more.
const PLACED_UPDATE_ROWS: i64 = 1024;

/// The consecutive newest rows of one journal that are not indexed yet.
#[derive(Debug, Default, Clone)]
pub(super) struct UnindexedRows {
    /// The number of the newest row.
    last: Seq,
    row_ids: Vec<i64>,
    bytes: u64,
}

impl UnindexedRows {
    pub(super) fn push(&mut self, seq: Seq, row_id: i64, bytes: u64) {
        self.last = seq;
        self.row_ids.push(row_id);
        self.bytes += bytes;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.row_ids.is_empty()
    }

    /// Whether there are enough rows to index them together.
    pub(super) fn is_due(&self) -> bool {
        self.row_ids.len() >= UNINDEXED_EVENTS || self.bytes >= UNINDEXED_BYTES
    }

    fn first_row_id(&self) -> Option<i64> {
        self.row_ids.first().copied()
    }

    /// Writes the index entries of all these rows.
    pub(super) fn write_index(&mut self, conn: &Connection, journal: i64) -> rusqlite::Result<()> {
        let insert = "INSERT INTO places (journal, seq, id) VALUES (?1, ?2, ?3)";
        let mut insert = conn.prepare_cached(insert)?;
        let before = self.last.get() - self.row_ids.len() as u64;
        for (seq, row_id) in (before + 1..).zip(self.row_ids.drain(..)) {
            insert.execute((journal, seq as i64, row_id))?;
        }
        self.bytes = 0;
        Ok(())
    }
}

/// Row ids, and which journals have unindexed rows.
#[derive(Debug)]
pub(super) struct RowIndex {
    /// The id of the next row. While the store is open no id is reused, not even that of a removed row: after a crash, a
    /// reused id at or below `placed` would be taken for an indexed row.
    next_row_id: i64,
    /// The committed value of `placed`: all rows up to this id are indexed.
    indexed_through: i64,
    /// The journals with unindexed rows, by the id of the first of these rows.
    unindexed: BTreeMap<i64, i64>,
}

impl RowIndex {
    /// Indexes the rows that were not indexed when the file was last used.
    pub(super) fn open(conn: &Connection) -> rusqlite::Result<Self> {
        let transaction = conn.unchecked_transaction()?;
        // Some of the scanned rows may be indexed already, as `placed` lags behind: hence OR IGNORE.
        conn.execute_batch(
            "INSERT OR IGNORE INTO places (journal, seq, id)
                SELECT journal, seq, id FROM events WHERE id > (SELECT upto FROM placed) ORDER BY journal, seq;
            UPDATE placed SET upto = (SELECT coalesce(max(id), 0) FROM events);",
        )?;
        let indexed_through = conn.query_row("SELECT upto FROM placed", [], |row| row.get(0))?;
        transaction.commit()?;
        Ok(Self { next_row_id: indexed_through + 1, indexed_through, unindexed: BTreeMap::new() })
    }

    /// The id that the next row will get.
    pub(super) fn next_row_id(&self) -> i64 {
        self.next_row_id
    }

    /// Assigns an id to a new row.
    pub(super) fn allocate_row_id(&mut self) -> i64 {
        self.next_row_id += 1;
        self.next_row_id - 1
    }

    /// At most `limit` journals whose unindexed rows are older than [`UNINDEXED_AGE_ROWS`].
    pub(super) fn overdue_journals(&self, limit: usize) -> Vec<i64> {
        let overdue = self.unindexed.range(..self.next_row_id.saturating_sub(UNINDEXED_AGE_ROWS));
        overdue.take(limit).map(|(_, journal)| *journal).collect()
    }

    /// Updates `placed` in the current transaction if it lags far enough behind, and returns its value, to be passed to
    /// [`set_indexed_through`](Self::set_indexed_through) after the commit.
    ///
    /// `transaction_start` is the first row id of the transaction. Its rows do not count as indexed yet, because
    /// `unindexed` learns about them only after the commit.
    pub(super) fn write_indexed_through(
        &self,
        conn: &Connection,
        transaction_start: i64,
    ) -> rusqlite::Result<i64> {
        let first_unindexed = self.unindexed.first_key_value().map_or(transaction_start, |(first, _)| *first);
        let indexed_through = first_unindexed - 1;
        if indexed_through - self.indexed_through < PLACED_UPDATE_ROWS {
            return Ok(self.indexed_through);
        }
        conn.prepare_cached("UPDATE placed SET upto = ?1")?.execute([indexed_through])?;
        Ok(indexed_through)
    }

    /// Remembers the value of `placed` that was committed.
    pub(super) fn set_indexed_through(&mut self, indexed_through: i64) {
        self.indexed_through = indexed_through;
    }

    /// Replaces the unindexed rows of a journal after a commit.
    pub(super) fn update_unindexed(&mut self, journal: i64, before: &UnindexedRows, after: &UnindexedRows) {
        if let Some(first) = before.first_row_id() {
            self.unindexed.remove(&first);
        }
        if let Some(first) = after.first_row_id() {
            self.unindexed.insert(first, journal);
        }
    }
}
