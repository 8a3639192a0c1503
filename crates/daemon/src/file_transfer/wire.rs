//! Converts between the types of `files` and the wire types.

use std::{
    ffi::OsString,
    fmt,
    os::unix::ffi::{OsStrExt, OsStringExt},
    time::SystemTime,
};

use files::{EntryPage, EntryType};
use jiff::Timestamp;
use percent_encoding::percent_decode_str;
use protocol::fs;
use serde::Deserialize;

/// The largest number of entries in a page of a directory.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "usize")]
pub(crate) struct EntryLimit(usize);

impl EntryLimit {
    const MAX: usize = 10_000;

    pub(crate) fn get(self) -> usize {
        self.0
    }
}

impl Default for EntryLimit {
    fn default() -> Self {
        Self(1000)
    }
}

impl TryFrom<usize> for EntryLimit {
    type Error = &'static str;

    fn try_from(size: usize) -> Result<Self, &'static str> {
        if (1..=Self::MAX).contains(&size) {
            Ok(Self(size))
        } else {
            Err("`limit` must be between 1 and 10000")
        }
    }
}

/// A file name as a page cursor. Bytes that are not UTF-8 are written as `%FF`, and `%` as `%25`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "String")]
pub(crate) struct EntryCursor(pub(crate) OsString);

impl From<String> for EntryCursor {
    fn from(text: String) -> Self {
        Self(OsString::from_vec(percent_decode_str(&text).collect()))
    }
}

impl fmt::Display for EntryCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.as_bytes().utf8_chunks() {
            f.write_str(&chunk.valid().replace('%', "%25"))?;
            chunk.invalid().iter().try_for_each(|byte| write!(f, "%{byte:02X}"))?;
        }
        Ok(())
    }
}

pub(crate) fn entry_list(page: EntryPage) -> fs::DirectoryEntryList {
    let items = page.items.into_iter().map(|entry| fs::DirectoryEntry {
        name: entry.name,
        path: entry.path.to_string(),
        kind: kind(entry.kind),
        size: entry.size,
        modified_at: timestamp(entry.modified),
    });
    let next_cursor = page.next.map(|name| EntryCursor(name).to_string());
    fs::DirectoryEntryList { items: items.collect(), next_cursor }
}

pub(crate) fn stat(
    path: String,
    stat: &files::EntryMetadata,
    symlink_target: Option<String>,
) -> fs::FileMetadata {
    fs::FileMetadata {
        path,
        kind: kind(stat.kind),
        size: stat.size,
        mode: stat.mode,
        modified_at: timestamp(stat.modified),
        symlink_target,
        etag: stat.etag(),
    }
}

fn kind(kind: EntryType) -> fs::FileKind {
    match kind {
        EntryType::File => fs::FileKind::File,
        EntryType::Directory => fs::FileKind::Directory,
        EntryType::Symlink => fs::FileKind::Symlink,
        EntryType::Other => fs::FileKind::Other,
    }
}

fn timestamp(time: SystemTime) -> Option<Timestamp> {
    Timestamp::try_from(time).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_name_survives_a_round_trip_as_cursor() {
        for name in [&b"plain"[..], b"100%", b"%25", "é 😀".as_bytes(), b"\xff\xfe", b"a\xc3"] {
            let cursor = EntryCursor(OsString::from_vec(name.to_vec()));
            assert_eq!(EntryCursor::from(cursor.to_string()), cursor);
        }
        assert_eq!(EntryCursor(OsString::from("plain é")).to_string(), "plain é");
    }
}
