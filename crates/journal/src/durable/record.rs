//! Records: the current state that belongs to a journal, beside the history in its frames.
//!
//! A record is a value under a kind and a key; a later write replaces it. Records are changed in the same transaction as
//! frames, so that state and history never contradict each other. They are stored in the table `notes`.

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, Row, params};

/// A change to a record of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordUpdate {
    /// The kind of record.
    pub kind: &'static str,
    /// The key within the kind; records are listed in key order.
    pub key: String,
    /// The new value; `None` deletes the record.
    pub value: Option<Bytes>,
}

impl RecordUpdate {
    /// Creates or replaces a record.
    pub fn put(kind: &'static str, key: impl Into<String>, value: impl Into<Bytes>) -> RecordUpdate {
        RecordUpdate { kind, key: key.into(), value: Some(value.into()) }
    }

    /// Deletes a record.
    pub fn delete(kind: &'static str, key: impl Into<String>) -> RecordUpdate {
        RecordUpdate { kind, key: key.into(), value: None }
    }
}

/// A record of one of many journals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecord {
    /// The name of the journal.
    pub journal: String,
    /// The key within the kind.
    pub key: String,
    /// The value.
    pub value: Bytes,
}

/// Applies the changes.
pub(super) fn apply(conn: &Connection, journal: i64, updates: &[RecordUpdate]) -> rusqlite::Result<()> {
    for update in updates {
        match &update.value {
            Some(value) => conn
                .prepare_cached(
                    "INSERT OR REPLACE INTO notes (journal, kind, key, value) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![journal, update.kind, update.key, &value[..]])?,
            None => conn
                .prepare_cached("DELETE FROM notes WHERE journal = ?1 AND kind = ?2 AND key = ?3")?
                .execute((journal, update.kind, &update.key))?,
        };
    }
    Ok(())
}

/// The value of one record.
pub(super) fn find(
    conn: &Connection,
    journal: i64,
    kind: &str,
    key: &str,
) -> rusqlite::Result<Option<Bytes>> {
    let select = "SELECT value FROM notes WHERE journal = ?1 AND kind = ?2 AND key = ?3";
    let value = |row: &Row<'_>| row.get::<_, Vec<u8>>(0);
    let found = conn.prepare_cached(select)?.query_row((journal, kind, key), value).optional()?;
    Ok(found.map(Bytes::from))
}

/// The first `limit` records of a kind with keys greater than `after`.
pub(super) fn list_after(
    conn: &Connection,
    journal: i64,
    kind: &str,
    after: &str,
    limit: u32,
) -> rusqlite::Result<Vec<(String, Bytes)>> {
    let select =
        "SELECT key, value FROM notes WHERE journal = ?1 AND kind = ?2 AND key > ?3 ORDER BY key LIMIT ?4";
    conn.prepare_cached(select)?.query_map((journal, kind, after, limit), key_and_value)?.collect()
}

/// The last `limit` records of a kind, ordered by key.
pub(super) fn list_last(
    conn: &Connection,
    journal: i64,
    kind: &str,
    limit: u32,
) -> rusqlite::Result<Vec<(String, Bytes)>> {
    let select = "SELECT key, value FROM notes WHERE journal = ?1 AND kind = ?2 ORDER BY key DESC LIMIT ?3";
    let mut select = conn.prepare_cached(select)?;
    let mut found: Vec<_> =
        select.query_map((journal, kind, limit), key_and_value)?.collect::<Result<_, _>>()?;
    found.reverse();
    Ok(found)
}

/// All records of a kind, in all journals that are not deleted.
pub(super) fn list_all(conn: &Connection, kind: &str) -> rusqlite::Result<Vec<StoredRecord>> {
    let select = "SELECT journals.name, key, value FROM journals JOIN notes ON notes.journal = journals.id
        WHERE journals.name IS NOT NULL AND kind = ?1 ORDER BY journals.name, key";
    let record = |row: &Row<'_>| {
        Ok(StoredRecord { journal: row.get(0)?, key: row.get(1)?, value: row.get::<_, Vec<u8>>(2)?.into() })
    };
    conn.prepare_cached(select)?.query_map([kind], record)?.collect()
}

fn key_and_value(row: &Row<'_>) -> rusqlite::Result<(String, Bytes)> {
    Ok((row.get(0)?, Bytes::from(row.get::<_, Vec<u8>>(1)?)))
}
