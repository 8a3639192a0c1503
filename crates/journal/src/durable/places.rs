//! Where the rows of each journal are.
//!
//! Rows lie in the order of arrival, whichever journal they are of. An index that knew each at once would touch a page
//! per row: the end of that row's journal. This one is written behind the rows, many of one journal at a time. Those that
//! are not in it yet are in the tail that readers have in memory; after a sudden end they are found among the last
//! rows, as none waits for long.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::writer::TAIL_BYTES;
use crate::Seq;

/// A journal has at most so many rows without a place, …
const WAITING_EVENTS: usize = 64;
/// … or so many bytes of them, which is well within what its tail keeps, …
const WAITING_BYTES: u64 = TAIL_BYTES.get() / 8;
/// … and none once so many rows have been added after it.
const WAITING_ROWS: i64 = 8192;

/// How many rows are placed until that is noted: so many more are looked at after a sudden end.
const NOTED_ROWS: i64 = 1024;

/// The rows of one journal that have no place yet; they follow each other.
#[derive(Debug, Default, Clone)]
pub(super) struct Waiting {
    /// The number of the last.
    last: Seq,
    ids: Vec<i64>,
    bytes: u64,
}

impl Waiting {
    /// Adds a row.
    pub(super) fn push(&mut self, seq: Seq, id: i64, bytes: u64) {
        self.last = seq;
        self.ids.push(id);
        self.bytes += bytes;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Whether there are enough to be worth it.
    pub(super) fn is_due(&self) -> bool {
        self.ids.len() >= WAITING_EVENTS || self.bytes >= WAITING_BYTES
    }

    /// The first of the rows.
    fn first(&self) -> Option<i64> {
        self.ids.first().copied()
    }

    /// Gives them their places.
    pub(super) fn place(&mut self, conn: &Connection, journal: i64) -> rusqlite::Result<()> {
        let insert = "INSERT INTO places (journal, seq, id) VALUES (?1, ?2, ?3)";
        let mut insert = conn.prepare_cached(insert)?;
        let before = self.last.get() - self.ids.len() as u64;
        for (seq, id) in (before + 1..).zip(self.ids.drain(..)) {
            insert.execute((journal, seq as i64, id))?;
        }
        self.bytes = 0;
        Ok(())
    }
}

/// What is known of the rows of all journals.
#[derive(Debug)]
pub(super) struct Places {
    /// What the next row is called. No name is given twice, also not that of a row that is gone.
    next: i64,
    /// Everything up to this row is noted to have its place.
    noted: i64,
    /// The journals that have rows without a place, by the first of these.
    waiting: BTreeMap<i64, i64>,
}

impl Places {
    /// Finds the rows that had no place when the file was last used, and gives them theirs.
    pub(super) fn open(conn: &Connection) -> rusqlite::Result<Self> {
        let transaction = conn.unchecked_transaction()?;
        conn.execute_batch(
            "INSERT OR IGNORE INTO places (journal, seq, id)
                SELECT journal, seq, id FROM events WHERE id > (SELECT upto FROM placed) ORDER BY journal, seq;
            UPDATE placed SET upto = (SELECT coalesce(max(id), 0) FROM events);",
        )?;
        let noted = conn.query_row("SELECT upto FROM placed", [], |row| row.get(0))?;
        transaction.commit()?;
        Ok(Self { next: noted + 1, noted, waiting: BTreeMap::new() })
    }

    /// What the next row is called.
    pub(super) fn next(&self) -> i64 {
        self.next
    }

    /// A name for a row.
    pub(super) fn name(&mut self) -> i64 {
        self.next += 1;
        self.next - 1
    }

    /// At most so many journals whose rows have waited for long.
    pub(super) fn overdue(&self, most: usize) -> Vec<i64> {
        let overdue = self.waiting.range(..self.next.saturating_sub(WAITING_ROWS));
        overdue.take(most).map(|(_, journal)| *journal).collect()
    }

    /// Notes how far everything has its place, now and then; the transaction under way began with the row `begun`.
    pub(super) fn note(&self, conn: &Connection, begun: i64) -> rusqlite::Result<i64> {
        let upto = self.waiting.first_key_value().map_or(begun, |(first, _)| *first) - 1;
        if upto - self.noted < NOTED_ROWS {
            return Ok(self.noted);
        }
        conn.prepare_cached("UPDATE placed SET upto = ?1")?.execute([upto])?;
        Ok(upto)
    }

    /// Everything up to this row is noted, and that is committed.
    pub(super) fn set_noted(&mut self, noted: i64) {
        self.noted = noted;
    }

    /// What waited of a journal is now something else.
    pub(super) fn change(&mut self, journal: i64, from: &Waiting, to: &Waiting) {
        if let Some(first) = from.first() {
            self.waiting.remove(&first);
        }
        if let Some(first) = to.first() {
            self.waiting.insert(first, journal);
        }
    }
}
