//! What is in a directory.

use std::{
    collections::BinaryHeap,
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
    time::SystemTime,
};

use rustix::{
    fs::{self, AtFlags, Dir, OFlags},
    io::Errno,
};

use crate::{Cause, Error, FileKind, Root, Stat, VirtualPath, error::At};

/// The most entries one listing returns, and one archive may hold: some 20 MB in memory, and more than a person or a
/// model reads. A longer directory is read page by page.
pub const ENTRIES_MAX: usize = 100_000;

/// One name in a directory. A link is shown as itself, never as what it points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name, with replacement characters where it is not UTF-8.
    pub name: String,
    /// Set when `name` had to be repaired: then only `path` still names the entry.
    pub lossy: bool,
    /// The exact path, seen from the root.
    pub path: VirtualPath,
    /// What kind of thing.
    pub kind: FileKind,
    /// Length in bytes.
    pub size: u64,
    /// When the content last changed.
    pub modified: SystemTime,
}

/// A part of a directory, sorted by the bytes of the names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The entries.
    pub items: Vec<Entry>,
    /// The `after` of the next page; nothing on the last one.
    pub next: Option<OsString>,
}

impl Root {
    /// The entries of the directory `path` whose names sort behind `after`, at most `limit` (and [`ENTRIES_MAX`]).
    /// Memory grows with the page, not with the directory. What vanishes while we look is left out.
    ///
    /// # Errors
    /// [`Cause::NotADirectory`] for a file.
    pub fn entries(&self, path: &VirtualPath, after: Option<&OsStr>, limit: usize) -> Result<Page, Error> {
        let absolute = self.absolute(path);
        self.page(&absolute, after, limit.clamp(1, ENTRIES_MAX)).at("list", path)
    }

    fn page(&self, path: &VirtualPath, after: Option<&OsStr>, limit: usize) -> Result<Page, Cause> {
        let mut dir = Dir::new(self.open_at(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK)?)?;
        let (names, more) = first_names(&mut dir, after, limit)?;
        let next = if more { names.last().cloned() } else { None };
        let mut items = Vec::with_capacity(names.len());
        for name in names {
            match fs::statat(dir.fd()?, &name, AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT) {
                Ok(stat) => items.push(Entry::new(path, &name, &Stat::from(&stat))),
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(Page { items, next })
    }
}

impl Entry {
    fn new(dir: &VirtualPath, name: &OsStr, stat: &Stat) -> Self {
        Self {
            name: name.to_string_lossy().into_owned(),
            lossy: name.to_str().is_none(),
            path: dir.join(name),
            kind: stat.kind,
            size: stat.size,
            modified: stat.modified,
        }
    }
}

/// The `limit` smallest names behind `after`, and whether there are more: the heap drops its largest as it goes.
fn first_names(dir: &mut Dir, after: Option<&OsStr>, limit: usize) -> Result<(Vec<OsString>, bool), Errno> {
    let mut kept = BinaryHeap::new();
    let mut more = false;
    while let Some(entry) = dir.read() {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." || after.is_some_and(|after| name <= after) {
            continue;
        }
        if kept.len() < limit {
            kept.push(name.to_owned());
            continue;
        }
        more = true;
        if let Some(mut largest) = kept.peek_mut()
            && name < largest.as_os_str()
        {
            *largest = name.to_owned();
        }
    }
    Ok((kept.into_sorted_vec(), more))
}
