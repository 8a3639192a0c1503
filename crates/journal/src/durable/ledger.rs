//! What one journal holds in the file, and the statements that change it.

use bytes::BytesMut;
use rusqlite::{CachedStatement, Connection, OptionalExtension};

use crate::{Batch, Bounds, Epoch, Frames, Retention, Seq, frames::end_of};

/// Expired rows are removed when there are so many …
const TRIM_EVENTS: u64 = 256;
/// … or so many bytes of them, …
const TRIM_BYTES: u64 = 1024 * 1024;
/// … and at most so many at a time: a journal whose retention shrank must not hold up the others.
const REMOVE_MAX: u64 = 1024;

/// The most a reader gets in one page of older frames.
const PAGE_EVENTS: i64 = 1024;
const PAGE_BYTES: usize = 256 * 1024;

/// Where a journal begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marks {
    /// The last row, and the bytes ever appended with it.
    newest: Seq,
    upto: u64,
    /// The first row that readers get, and the bytes appended before it.
    oldest: Seq,
    floor: u64,
    /// The first row that is there, expired or not, and the bytes appended before it.
    low: Seq,
    low_floor: u64,
}

impl Marks {
    /// Reads them from the rows.
    pub(super) fn load(conn: &Connection, journal: i64, retention: Retention) -> rusqlite::Result<Marks> {
        let first = "SELECT places.seq, upto - length(frame) FROM places CROSS JOIN events USING (id)
            WHERE places.journal = ?1 ORDER BY places.seq LIMIT 1";
        let last = "SELECT places.seq, upto FROM places CROSS JOIN events USING (id)
            WHERE places.journal = ?1 ORDER BY places.seq DESC LIMIT 1";
        let (low, low_floor) = edge(conn, first, journal)?.unwrap_or((Seq::new(1), 0));
        let (newest, upto) = edge(conn, last, journal)?.unwrap_or((Seq::ZERO, 0));
        let mut marks = Marks { newest, upto, oldest: low, floor: low_floor, low, low_floor };
        marks.expire(conn, journal, retention)?;
        Ok(marks)
    }

    pub(super) fn bounds(&self, epoch: Epoch) -> Bounds {
        let (oldest, newest) = (self.oldest, self.newest);
        Bounds { epoch, oldest, newest, events: newest.since(oldest.before()), bytes: self.upto - self.floor }
    }

    pub(super) fn newest(&self) -> Seq {
        self.newest
    }

    /// The bytes ever appended.
    pub(super) fn upto(&self) -> u64 {
        self.upto
    }

    /// Adds a frame as the row `id`; answers with its number.
    pub(super) fn insert(
        &mut self,
        insert: &mut CachedStatement<'_>,
        journal: i64,
        id: i64,
        frame: &[u8],
    ) -> rusqlite::Result<Seq> {
        self.newest = self.newest.next();
        self.upto += frame.len() as u64;
        insert.execute((id, journal, sql(self.newest), self.upto as i64, frame))?;
        Ok(self.newest)
    }

    /// Moves `oldest` up until what is kept is within the retention; the newest row stays whatever its size. All rows
    /// must have their places.
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
        let mut rows = select.query((journal, sql(self.oldest)))?;
        while self.exceeds(retention)
            && let Some(row) = rows.next()?
        {
            self.oldest = seq(row.get(0)?).next();
            self.floor = row.get::<_, i64>(1)? as u64;
        }
        Ok(())
    }

    /// Whether there is more than the retention allows.
    pub(super) fn exceeds(&self, retention: Retention) -> bool {
        self.oldest < self.newest
            && (self.newest.since(self.oldest.before()) > retention.events.get()
                || self.upto - self.floor > retention.bytes.get())
    }

    /// Removes rows, if there are enough to be worth it, that had expired when `published` was shown to readers.
    /// Not those that expire only now: a reader that misses a row must already be able to see why.
    pub(super) fn trim(
        &mut self,
        conn: &Connection,
        journal: i64,
        published: &Marks,
    ) -> rusqlite::Result<()> {
        let (events, bytes) = (published.oldest.since(self.low), published.floor - self.low_floor);
        if events < TRIM_EVENTS && bytes < TRIM_BYTES {
            return Ok(());
        }
        let end = published.oldest.min(self.low.plus(REMOVE_MAX));
        let upto =
            "SELECT upto FROM events WHERE id = (SELECT id FROM places WHERE journal = ?1 AND seq = ?2)";
        let upto: i64 =
            conn.prepare_cached(upto)?.query_row((journal, sql(end.before())), |row| row.get(0))?;
        remove(conn, journal, end)?;
        (self.low, self.low_floor) = (end, upto as u64);
        Ok(())
    }
}

/// The statement for [`Marks::insert`], found once for many appends.
pub(super) fn insert(conn: &Connection) -> rusqlite::Result<CachedStatement<'_>> {
    conn.prepare_cached("INSERT INTO events (id, journal, seq, upto, frame) VALUES (?1, ?2, ?3, ?4, ?5)")
}

/// Removes the rows before `end`, with their places.
fn remove(conn: &Connection, journal: i64, end: Seq) -> rusqlite::Result<usize> {
    let rows = "DELETE FROM events WHERE id IN (SELECT id FROM places WHERE journal = ?1 AND seq < ?2)";
    conn.prepare_cached(rows)?.execute((journal, sql(end)))?;
    let places = "DELETE FROM places WHERE journal = ?1 AND seq < ?2";
    conn.prepare_cached(places)?.execute((journal, sql(end)))
}

/// Removes some rows of a journal, the first ones; answers whether there were any.
pub(super) fn remove_some(conn: &Connection, journal: i64) -> rusqlite::Result<bool> {
    let first = "SELECT min(seq) FROM places WHERE journal = ?1";
    let first: Option<i64> = conn.prepare_cached(first)?.query_row([journal], |row| row.get(0))?;
    let Some(first) = first else { return Ok(false) };
    remove(conn, journal, seq(first).plus(REMOVE_MAX))?;
    Ok(true)
}

/// One page of the frames after `position`, up to `newest`; it may be empty, or begin later if rows are missing.
pub(super) fn page(conn: &Connection, journal: i64, position: Seq, newest: Seq) -> rusqlite::Result<Batch> {
    let select = "SELECT places.seq, frame FROM places CROSS JOIN events USING (id)
        WHERE places.journal = ?1 AND places.seq > ?2 AND places.seq <= ?3 ORDER BY places.seq LIMIT ?4";
    let mut select = conn.prepare_cached(select)?;
    let mut rows = select.query((journal, sql(position), sql(newest), PAGE_EVENTS))?;
    let (mut first, mut bytes, mut ends) = (None, BytesMut::new(), Vec::new());
    while bytes.len() < PAGE_BYTES
        && let Some(row) = rows.next()?
    {
        let (at, frame) = (seq(row.get(0)?), row.get_ref(1)?.as_blob()?);
        if at != first.get_or_insert(at).plus(ends.len() as u64) {
            break;
        }
        bytes.extend_from_slice(frame);
        ends.push(end_of(bytes.len()));
    }
    Ok(Batch::new(first.unwrap_or(position.next()), Frames::rendered(bytes.freeze(), ends.into())))
}

/// The bytes ever appended up to the row `position`, or up to the last before it that has a place; none if no row has.
pub(super) fn upto(conn: &Connection, journal: i64, position: Seq) -> rusqlite::Result<u64> {
    let select = "SELECT upto FROM places CROSS JOIN events USING (id)
        WHERE places.journal = ?1 AND places.seq <= ?2 ORDER BY places.seq DESC LIMIT 1";
    let row = |row: &rusqlite::Row<'_>| Ok(row.get::<_, i64>(0)? as u64);
    let upto = conn.prepare_cached(select)?.query_row((journal, sql(position)), row).optional()?;
    Ok(upto.unwrap_or(0))
}

fn edge(conn: &Connection, query: &str, journal: i64) -> rusqlite::Result<Option<(Seq, u64)>> {
    let row = |row: &rusqlite::Row<'_>| Ok((seq(row.get(0)?), row.get::<_, i64>(1)? as u64));
    conn.prepare_cached(query)?.query_row([journal], row).optional()
}

/// SQLite's integers are signed; no journal gets near 2⁶³ frames.
fn sql(seq: Seq) -> i64 {
    seq.get() as i64
}

fn seq(sql: i64) -> Seq {
    Seq::new(sql as u64)
}
