//! The database file: tables, format versions and connection settings.

use std::{path::Path, sync::Arc};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{Error, SyncMode};

/// Identifies the file as a journal store: "TJRN".
const APPLICATION_ID: i64 = 0x544a_524e;

/// Step `k` upgrades from version `k` to `k + 1`. Released steps are never edited.
///
/// - `events`: the frames of all journals in the order of their arrival, so that an append touches one page whatever the
///   number of journals. `upto` is the sum of the bytes ever appended to the journal up to and including the row: the size
///   of any range takes two look-ups, and no counter has to be updated with each append. The newest row of a journal is
///   never removed, so its bounds follow from its rows.
/// - `journals`: a row without a name is a deleted journal whose rows are still being removed. Its id is never reused
///   (AUTOINCREMENT), as readers may still hold it.
/// - `notes`: the records of a journal; see `record.rs`.
/// - `places` and `placed`: the index of `events`, and up to which row it is complete; see `row_index.rs`.
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
    // Version 2: records.
    "
    CREATE TABLE notes (
        journal INTEGER NOT NULL,
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        value BLOB NOT NULL,
        PRIMARY KEY (journal, kind, key)
    ) STRICT, WITHOUT ROWID;
",
    // Version 3: the index of events is written behind the rows.
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

/// The limit of the write-ahead log. SQLite truncates a larger log when it starts over from the beginning.
pub(super) const WAL_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The writer's page cache. It holds the newest events and the last index pages of some hundred journals. A much larger
/// cache makes each commit slower, as SQLite searches it.
const CACHE_KIB: i64 = 4 * 1024;

/// Opens the file for writing: checks it without changing it, then migrates it to the current version.
pub(super) fn open(path: &Path, sync: SyncMode) -> Result<Connection, Error> {
    let failed = |source| explain(path, source);
    check(path)?;
    let conn = Connection::open(path).map_err(failed)?;
    configure(&conn, sync).map_err(failed)?;
    migrate(&conn).map_err(failed)?;
    Ok(conn)
}

/// Opens another connection for reading or for checkpoints; [`open`] has checked the file.
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
    // A read-only connection leaves the file unchanged, even when it is closed.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let facts = Connection::open_with_flags(path, flags).and_then(|conn| {
        let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        Ok((tables, version(&conn)?, application(&conn)?))
    });
    let known = MIGRATIONS.len() as i64;
    match facts.map_err(|source| explain(path, source))? {
        // An empty database: the process that created the file was killed before its first transaction.
        (0, 0, 0) => Ok(()),
        (_, found, APPLICATION_ID) if found > known => Err(Error::Newer { path: path.into(), found, known }),
        (_, _, APPLICATION_ID) => Ok(()),
        _ => Err(Error::Foreign(path.into())),
    }
}

fn configure(conn: &Connection, sync: SyncMode) -> rusqlite::Result<()> {
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(
        None,
        "synchronous",
        match sync {
            SyncMode::Normal => "NORMAL",
            SyncMode::Full => "FULL",
        },
    )?;
    // The checkpoint thread does this; the writer helps only when the log has grown too large.
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
