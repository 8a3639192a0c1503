//! The rows of one journal in the table `events`, found through the index `places`.

use bytes::BytesMut;
use rusqlite::{CachedStatement, Connection, OptionalExtension};

use crate::{Epoch, FrameBatch, FrameBuffer, JournalBounds, Retention, Seq, frame_buffer::end_of};

/// Expired rows are removed when there are this many, …
const TRIM_EVENTS: u64 = 256;
/// … or this many bytes of them, …
const TRIM_BYTES: u64 = 1024 * 1024;
/// … and at most this many at a time, so that a journal whose retention was reduced does not block the others.
const REMOVE_MAX: u64 = 1024;

/// The limits of one page of older frames.
const PAGE_EVENTS: i64 = 1024;
const PAGE_BYTES: usize = 256 * 1024;

/// The first and last rows of a journal, with their places among all bytes ever appended to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowRange {
    /// The newest row, and the bytes ever appended including it.
    newest: Seq,
    total_bytes: u64,
    /// The oldest readable row, and the bytes appended before it.
    oldest: Seq,
    oldest_start: u64,
    /// The first row in the file, expired or not, and the bytes appended before it.
    stored_from: Seq,
    stored_start: u64,
}

impl RowRange {
    /// Determines the range from the stored rows.
    pub(super) fn load(conn: &Connection, journal: i64, retention: Retention) -> rusqlite::Result<RowRange> {
        let first = "SELECT places.seq, upto - length(frame) FROM places CROSS JOIN events USING (id)
            WHERE places.journal = ?1 ORDER BY places.seq LIMIT 1";
        let last = "SELECT places.seq, upto FROM places CROSS JOIN events USING (id)
            WHERE places.journal = ?1 ORDER BY places.seq DESC LIMIT 1";
        let (stored_from, stored_start) = edge_row(conn, first, journal)?.unwrap_or((Seq::new(1), 0));
        let (newest, total_bytes) = edge_row(conn, last, journal)?.unwrap_or((Seq::ZERO, 0));
        let mut range = RowRange {
            newest,
            total_bytes,
            oldest: stored_from,
            oldest_start: stored_start,
            stored_from,
            stored_start,
        };
        range.expire(conn, journal, retention)?;
        Ok(range)
    }

    pub(super) fn bounds(&self, epoch: Epoch) -> JournalBounds {
        JournalBounds {
            epoch,
            oldest: self.oldest,
            newest: self.newest,
            events: self.newest.since(self.oldest.before()),
            bytes: self.total_bytes - self.oldest_start,
        }
    }

    pub(super) fn newest(&self) -> Seq {
        self.newest
    }

    /// The bytes ever appended.
    pub(super) fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// Adds a frame as the row `row_id` and returns its number.
    pub(super) fn insert(
        &mut self,
        insert: &mut CachedStatement<'_>,
        journal: i64,
        row_id: i64,
        frame: &[u8],
    ) -> rusqlite::Result<Seq> {
        self.newest = self.newest.next();
        self.total_bytes += frame.len() as u64;
        insert.execute((row_id, journal, to_sql(self.newest), self.total_bytes as i64, frame))?;
        Ok(self.newest)
    }

    /// Moves `oldest` forward until the readable rows are within the retention. The newest row stays whatever its size. All
    /// rows must be indexed.
    pub(super) fn expire(
        &mut self,
        conn: &Connection,
        journal: i64,
        retention: Retention,
    ) -> rusqlite::Result<()> {
        if !self.exceeds(retention) {
            return Ok(());
        }
        let select = "SELECT places.seq, upto FROM places CROSS JOIN events USING (id)
            WHERE places.journal = ?1 AND places.seq >= ?2 ORDER BY places.seq";
        let mut select = conn.prepare_cached(select)?;
        let mut rows = select.query((journal, to_sql(self.oldest)))?;
        while self.exceeds(retention)
            && let Some(row) = rows.next()?
        {
            self.oldest = from_sql(row.get(0)?).next();
            self.oldest_start = row.get::<_, i64>(1)? as u64;
        }
        Ok(())
    }

    /// Whether the readable rows exceed the retention.
    pub(super) fn exceeds(&self, retention: Retention) -> bool {
        self.oldest < self.newest
            && (self.newest.since(self.oldest.before()) > retention.events.get()
                || self.total_bytes - self.oldest_start > retention.bytes.get())
    }

    /// Removes expired rows once there are enough of them.
    ///
    /// It removes only rows that were already expired in `published`, the range that readers can see. Rows that expire in this
    /// transaction stay until the next one: a reader that misses a row must be able to see in the bounds that it expired.
    pub(super) fn trim(
        &mut self,
        conn: &Connection,
        journal: i64,
        published: &RowRange,
    ) -> rusqlite::Result<()> {
        let events = published.oldest.since(self.stored_from);
        let bytes = published.oldest_start - self.stored_start;
        if events < TRIM_EVENTS && bytes < TRIM_BYTES {
            return Ok(());
        }
        let end = published.oldest.min(self.stored_from.plus(REMOVE_MAX));
        let select =
            "SELECT upto FROM events WHERE id = (SELECT id FROM places WHERE journal = ?1 AND seq = ?2)";
        let removed_bytes: i64 =
            conn.prepare_cached(select)?.query_row((journal, to_sql(end.before())), |row| row.get(0))?;
        remove(conn, journal, end)?;
        self.stored_from = end;
        self.stored_start = removed_bytes as u64;
        Ok(())
    }
}

/// Prepares the statement for [`RowRange::insert`] once for many appends.
pub(super) fn prepare_insert(conn: &Connection) -> rusqlite::Result<CachedStatement<'_>> {
    conn.prepare_cached("INSERT INTO events (id, journal, seq, upto, frame) VALUES (?1, ?2, ?3, ?4, ?5)")
}

/// Removes the rows before `end` and their index entries.
fn remove(conn: &Connection, journal: i64, end: Seq) -> rusqlite::Result<usize> {
    let rows = "DELETE FROM events WHERE id IN (SELECT id FROM places WHERE journal = ?1 AND seq < ?2)";
    conn.prepare_cached(rows)?.execute((journal, to_sql(end)))?;
    let entries = "DELETE FROM places WHERE journal = ?1 AND seq < ?2";
    conn.prepare_cached(entries)?.execute((journal, to_sql(end)))
}

/// Removes the oldest rows of a journal, at most [`REMOVE_MAX`], and returns whether there were any.
pub(super) fn remove_oldest(conn: &Connection, journal: i64) -> rusqlite::Result<bool> {
    let first = "SELECT min(seq) FROM places WHERE journal = ?1";
    let first: Option<i64> = conn.prepare_cached(first)?.query_row([journal], |row| row.get(0))?;
    let Some(first) = first else { return Ok(false) };
    remove(conn, journal, from_sql(first).plus(REMOVE_MAX))?;
    Ok(true)
}

/// Loads one page of frames after `position`, up to `newest`. If rows are missing it may be empty or start later, and it
/// ends before a hole in the numbers.
pub(super) fn load_page(
    conn: &Connection,
    journal: i64,
    position: Seq,
    newest: Seq,
) -> rusqlite::Result<FrameBatch> {
    let select = "SELECT places.seq, frame FROM places CROSS JOIN events USING (id)
        WHERE places.journal = ?1 AND places.seq > ?2 AND places.seq <= ?3 ORDER BY places.seq LIMIT ?4";
    let mut select = conn.prepare_cached(select)?;
    let mut rows = select.query((journal, to_sql(position), to_sql(newest), PAGE_EVENTS))?;
    let mut first = None;
    let mut bytes = BytesMut::new();
    let mut ends = Vec::new();
    while bytes.len() < PAGE_BYTES
        && let Some(row) = rows.next()?
    {
        let at = from_sql(row.get(0)?);
        let frame = row.get_ref(1)?.as_blob()?;
        if at != first.get_or_insert(at).plus(ends.len() as u64) {
            break;
        }
        bytes.extend_from_slice(frame);
        ends.push(end_of(bytes.len()));
    }
    let frames = FrameBuffer::from_encoded(bytes.freeze(), ends.into());
    Ok(FrameBatch::new(first.unwrap_or(position.next()), frames))
}

/// The bytes ever appended up to the row `position`, or up to the last indexed row before it; 0 if no row is indexed.
pub(super) fn bytes_through(conn: &Connection, journal: i64, position: Seq) -> rusqlite::Result<u64> {
    let select = "SELECT upto FROM places CROSS JOIN events USING (id)
        WHERE places.journal = ?1 AND places.seq <= ?2 ORDER BY places.seq DESC LIMIT 1";
    let row = |row: &rusqlite::Row<'_>| Ok(row.get::<_, i64>(0)? as u64);
    let bytes = conn.prepare_cached(select)?.query_row((journal, to_sql(position)), row).optional()?;
    Ok(bytes.unwrap_or(0))
}

/// The number of the selected row, and a byte count.
fn edge_row(conn: &Connection, query: &str, journal: i64) -> rusqlite::Result<Option<(Seq, u64)>> {
    let row = |row: &rusqlite::Row<'_>| Ok((from_sql(row.get(0)?), row.get::<_, i64>(1)? as u64));
    conn.prepare_cached(query)?.query_row([journal], row).optional()
}

/// SQLite's integers are signed; no journal reaches 2⁶³ frames.
fn to_sql(seq: Seq) -> i64 {
    seq.get() as i64
}

fn from_sql(sql: i64) -> Seq {
    Seq::new(sql as u64)
}
