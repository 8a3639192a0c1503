//! Notes: what is known now of a journal, beside what happened in it.
//!
//! A note has a kind and a key and holds bytes that a later one takes the place of. It is written together with frames
//! or not at all, so that the two never contradict each other.

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension, params};

/// A change to the notes of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What it is about.
    pub kind: &'static str,
    /// Which of its kind it is; notes are read in the order of their keys.
    pub key: String,
    /// What it says from now on; nothing removes it.
    pub value: Option<Bytes>,
}

impl Note {
    /// A note that says `value` from now on.
    pub fn says(kind: &'static str, key: impl Into<String>, value: impl Into<Bytes>) -> Note {
        Note { kind, key: key.into(), value: Some(value.into()) }
    }

    /// A note that is there no more.
    pub fn gone(kind: &'static str, key: impl Into<String>) -> Note {
        Note { kind, key: key.into(), value: None }
    }
}

/// A note as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noted {
    /// The name of its journal.
    pub journal: String,
    /// Its key.
    pub key: String,
    /// What it says.
    pub value: Bytes,
}

/// Makes the changes.
pub(super) fn write(conn: &Connection, journal: i64, notes: &[Note]) -> rusqlite::Result<()> {
    for note in notes {
        match &note.value {
            Some(value) => conn
                .prepare_cached(
                    "INSERT OR REPLACE INTO notes (journal, kind, key, value) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![journal, note.kind, note.key, &value[..]])?,
            None => conn
                .prepare_cached("DELETE FROM notes WHERE journal = ?1 AND kind = ?2 AND key = ?3")?
                .execute((journal, note.kind, &note.key))?,
        };
    }
    Ok(())
}

/// One note.
pub(super) fn one(conn: &Connection, journal: i64, kind: &str, key: &str) -> rusqlite::Result<Option<Bytes>> {
    let select = "SELECT value FROM notes WHERE journal = ?1 AND kind = ?2 AND key = ?3";
    let value = |row: &rusqlite::Row<'_>| row.get::<_, Vec<u8>>(0);
    let found = conn.prepare_cached(select)?.query_row((journal, kind, key), value).optional()?;
    Ok(found.map(Bytes::from))
}

/// The first `most` notes of a kind whose keys come after `after`.
pub(super) fn some(
    conn: &Connection,
    journal: i64,
    kind: &str,
    after: &str,
    most: u32,
) -> rusqlite::Result<Vec<(String, Bytes)>> {
    let select =
        "SELECT key, value FROM notes WHERE journal = ?1 AND kind = ?2 AND key > ?3 ORDER BY key LIMIT ?4";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, Bytes::from(row.get::<_, Vec<u8>>(1)?)));
    conn.prepare_cached(select)?.query_map((journal, kind, after, most), row)?.collect()
}

/// The last `most` notes of a kind, in the order of their keys.
pub(super) fn last(
    conn: &Connection,
    journal: i64,
    kind: &str,
    most: u32,
) -> rusqlite::Result<Vec<(String, Bytes)>> {
    let select = "SELECT key, value FROM notes WHERE journal = ?1 AND kind = ?2 ORDER BY key DESC LIMIT ?3";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, Bytes::from(row.get::<_, Vec<u8>>(1)?)));
    let mut found: Vec<_> =
        conn.prepare_cached(select)?.query_map((journal, kind, most), row)?.collect::<Result<_, _>>()?;
    found.reverse();
    Ok(found)
}

/// All notes of a kind, in all journals.
pub(super) fn all(conn: &Connection, kind: &str) -> rusqlite::Result<Vec<Noted>> {
    let select = "SELECT journals.name, key, value FROM journals JOIN notes ON notes.journal = journals.id
        WHERE journals.name IS NOT NULL AND kind = ?1 ORDER BY journals.name, key";
    let row = |row: &rusqlite::Row<'_>| {
        Ok(Noted { journal: row.get(0)?, key: row.get(1)?, value: row.get::<_, Vec<u8>>(2)?.into() })
    };
    conn.prepare_cached(select)?.query_map([kind], row)?.collect()
}
