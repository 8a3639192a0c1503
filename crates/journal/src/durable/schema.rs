//! The file: its tables, its versions, and how connections to it are set up.

use std::{path::Path, sync::Arc};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{Error, Sync};

/// Marks the file as ours: "TJRN".
const APPLICATION_ID: i64 = 0x544a_524e;

/// Step `k` leads from version `k` to `k + 1`; what was released is never edited.
///
/// Rows lie in the order of arrival, which touches one page whatever the number of journals; their places are written
/// behind them. `upto` is the bytes ever appended to the journal up to and including the row: sizes of any stretch are two look-ups,
/// and no counter needs to be updated with each append. The newest row of a journal is always kept, so its bounds
/// are in the rows themselves. A journal without a name was deleted, and its rows are still being removed; its id is
/// never used again (AUTOINCREMENT), as readers may still hold it.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE journals (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT UNIQUE,
        epoch INTEGER NOT NULL,
        keep_events INTEGER NOT NULL,
        keep_bytes INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE events (
        id INTEGER PRIMARY KEY,
        journal INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        upto INTEGER NOT NULL,
        frame BLOB NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX events_by_seq ON events (journal, seq);
",
    // Notes: what is known now, beside what happened.
    "
    CREATE TABLE notes (
        journal INTEGER NOT NULL,
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        value BLOB NOT NULL,
        PRIMARY KEY (journal, kind, key)
    ) STRICT, WITHOUT ROWID;
",
    // The index of events, written behind them: `placed` tells up to which of them it is complete.
    "
    CREATE TABLE places (
        journal INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        id INTEGER NOT NULL,
        PRIMARY KEY (journal, seq)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO places SELECT journal, seq, id FROM events ORDER BY journal, seq;
    CREATE TABLE placed (upto INTEGER NOT NULL) STRICT;
    INSERT INTO placed SELECT coalesce(max(id), 0) FROM events;
    DROP INDEX events_by_seq;
",
];

/// The write-ahead log is cut back to this when it starts anew.
pub(super) const WAL_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Pages the writer keeps in memory: the last events, and the ends of the index for some hundred journals. With many more
/// each commit costs more, as SQLite looks through them.
const CACHE_KIB: i64 = 4 * 1024;

/// Opens the file for writing: checks it without touching it, then brings it up to date.
pub(super) fn open(path: &Path, sync: Sync) -> Result<Connection, Error> {
    let failed = |source| explain(path, source);
    check(path)?;
    let conn = Connection::open(path).map_err(failed)?;
    configure(&conn, sync).map_err(failed)?;
    migrate(&conn).map_err(failed)?;
    Ok(conn)
}

/// Opens the file for reading pages or copying the write-ahead log; it has been checked by [`open`].
pub(super) fn open_again(path: &Path) -> rusqlite::Result<Connection> {
    let conn = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    conn.pragma_update(None, "wal_autocheckpoint", 0)?;
    Ok(conn)
}

fn check(path: &Path) -> Result<(), Error> {
    if std::fs::metadata(path).map_or(0, |file| file.len()) == 0 {
        return Ok(());
    }
    // A connection that can only read leaves the file as it is, even while it is closed.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let facts = Connection::open_with_flags(path, flags).and_then(|conn| {
        let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        Ok((tables, version(&conn)?, application(&conn)?))
    });
    let known = MIGRATIONS.len() as i64;
    match facts.map_err(|source| explain(path, source))? {
        // A file that was just created when its process was killed.
        (0, 0, 0) => Ok(()),
        (_, found, APPLICATION_ID) if found > known => Err(Error::Newer { path: path.into(), found, known }),
        (_, _, APPLICATION_ID) => Ok(()),
        _ => Err(Error::Foreign(path.into())),
    }
}

fn configure(conn: &Connection, sync: Sync) -> rusqlite::Result<()> {
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(
        None,
        "synchronous",
        match sync {
            Sync::Normal => "NORMAL",
            Sync::Full => "FULL",
        },
    )?;
    // Another connection does it, and the writer only when the log has grown too large.
    conn.pragma_update(None, "wal_autocheckpoint", 0)?;
    conn.pragma_update(None, "journal_size_limit", WAL_BYTES_MAX as i64)?;
    conn.pragma_update(None, "cache_size", -CACHE_KIB)?;
    Ok(())
}

fn migrate(conn: &Connection) -> rusqlite::Result<()> {
    for (before, step) in (0i64..).zip(MIGRATIONS).skip(version(conn)?.max(0) as usize) {
        let transaction = conn.unchecked_transaction()?;
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", before + 1)?;
        transaction.commit()?;
    }
    Ok(())
}

fn version(conn: &Connection) -> rusqlite::Result<i64> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn application(conn: &Connection) -> rusqlite::Result<i64> {
    conn.pragma_query_value(None, "application_id", |row| row.get(0))
}

fn explain(path: &Path, source: rusqlite::Error) -> Error {
    let (path, code) = (path.to_path_buf(), source.sqlite_error_code());
    let source = Arc::new(source);
    match code {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Error::Corrupt { path, source },
        _ => Error::Open { path, source },
    }
}
