//! What `files` says, in the words of the wire.

use std::time::SystemTime;

use files::{FileKind, Page};
use jiff::Timestamp;
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

pub(crate) fn entry_list(page: Page) -> fs::EntryList {
    let items = page.items.into_iter().map(|entry| fs::Entry {
        name: entry.name,
        path: entry.path.to_string(),
        kind: kind(entry.kind),
        size: entry.size,
        modified_at: timestamp(entry.modified),
    });
    let next_cursor = page.next.map(|name| name.to_string_lossy().into_owned());
    fs::EntryList { items: items.collect(), next_cursor }
}

pub(crate) fn stat(path: String, stat: &files::Stat, symlink_target: Option<String>) -> fs::Stat {
    fs::Stat {
        path,
        kind: kind(stat.kind),
        size: stat.size,
        mode: stat.mode,
        modified_at: timestamp(stat.modified),
        symlink_target,
        etag: stat.etag(),
    }
}

fn kind(kind: FileKind) -> fs::Kind {
    match kind {
        FileKind::File => fs::Kind::File,
        FileKind::Directory => fs::Kind::Directory,
        FileKind::Symlink => fs::Kind::Symlink,
        FileKind::Other => fs::Kind::Other,
    }
}

fn timestamp(time: SystemTime) -> Option<Timestamp> {
    Timestamp::try_from(time).ok()
}
