//! What `files` says, in the words of the wire.

use std::{
    ffi::OsString,
    fmt,
    os::unix::ffi::{OsStrExt, OsStringExt},
    time::SystemTime,
};

use files::{FileKind, Page};
use jiff::Timestamp;
use percent_encoding::percent_decode_str;
use protocol::fs;
use serde::Deserialize;

/// How many entries a page has, at most.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "usize")]
pub(crate) struct PageSize(usize);

impl PageSize {
    const MAX: usize = 10_000;

    pub(crate) fn get(self) -> usize {
        self.0
    }
}

impl Default for PageSize {
    fn default() -> Self {
        Self(1000)
    }
}

impl TryFrom<usize> for PageSize {
    type Error = &'static str;

    fn try_from(size: usize) -> Result<Self, &'static str> {
        if (1..=Self::MAX).contains(&size) {
            Ok(Self(size))
        } else {
            Err("`limit` must be between 1 and 10000")
        }
    }
}

/// A name in a directory as a cursor: as it is, but that bytes which are no text are written as `%FF`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "String")]
pub(crate) struct Cursor(pub(crate) OsString);

impl From<String> for Cursor {
    fn from(text: String) -> Self {
        Self(OsString::from_vec(percent_decode_str(&text).collect()))
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.as_bytes().utf8_chunks() {
            f.write_str(&chunk.valid().replace('%', "%25"))?;
            chunk.invalid().iter().try_for_each(|byte| write!(f, "%{byte:02X}"))?;
        }
        Ok(())
    }
}

pub(crate) fn entry_list(page: Page) -> fs::DirectoryEntryList {
    let items = page.items.into_iter().map(|entry| fs::DirectoryEntry {
        name: entry.name,
        path: entry.path.to_string(),
        kind: kind(entry.kind),
        size: entry.size,
        modified_at: timestamp(entry.modified),
    });
    let next_cursor = page.next.map(|name| Cursor(name).to_string());
    fs::DirectoryEntryList { items: items.collect(), next_cursor }
}

pub(crate) fn stat(path: String, stat: &files::Stat, symlink_target: Option<String>) -> fs::FileMetadata {
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

fn kind(kind: FileKind) -> fs::FileKind {
    match kind {
        FileKind::File => fs::FileKind::File,
        FileKind::Directory => fs::FileKind::Directory,
        FileKind::Symlink => fs::FileKind::Symlink,
        FileKind::Other => fs::FileKind::Other,
    }
}

fn timestamp(time: SystemTime) -> Option<Timestamp> {
    Timestamp::try_from(time).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_cursor_and_back() {
        for name in [&b"plain"[..], b"100%", b"%25", "é 😀".as_bytes(), b"\xff\xfe", b"a\xc3"] {
            let cursor = Cursor(OsString::from_vec(name.to_vec()));
            assert_eq!(Cursor::from(cursor.to_string()), cursor);
        }
        assert_eq!(Cursor(OsString::from("plain é")).to_string(), "plain é");
    }
}
