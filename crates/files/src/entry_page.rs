//! Directory listings in pages.

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

use crate::{
    EntryMetadata, EntryType, Error, FileErrorCause, FileOperation, RootDirectory, RootedPath,
    error::ErrorContext,
};

/// The maximum number of entries in one page and in one archive: about 20 MB of memory, and more than a person or a model
/// reads. A longer directory is read page by page.
pub const ENTRIES_MAX: usize = 100_000;

/// An entry of a directory. A link is shown as itself, never as its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// The name, with replacement characters if it is not UTF-8.
    pub name: String,
    /// Whether `name` contains replacement characters; then only `path` identifies the entry.
    pub lossy: bool,
    /// The exact absolute path in the tree.
    pub path: RootedPath,
    /// The kind of file.
    pub kind: EntryType,
    /// Length in bytes.
    pub size: u64,
    /// When the content last changed.
    pub modified: SystemTime,
}

/// A page of a directory, sorted by the bytes of the names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPage {
    /// The entries.
    pub items: Vec<FileEntry>,
    /// The `after` value of the next page; `None` on the last one.
    pub next: Option<OsString>,
}

impl RootDirectory {
    /// The entries of the directory `path` with names after `after`, at most `limit` (and [`ENTRIES_MAX`]). Memory grows with the
    /// page, not with the directory. Entries that are removed meanwhile are left out.
    ///
    /// # Errors
    /// [`FileErrorCause::NotADirectory`] for a file.
    pub fn entries(
        &self,
        path: &RootedPath,
        after: Option<&OsStr>,
        limit: usize,
    ) -> Result<EntryPage, Error> {
        let absolute = self.absolute(path);
        self.page(&absolute, after, limit.clamp(1, ENTRIES_MAX)).at(FileOperation::List, path)
    }

    fn page(
        &self,
        path: &RootedPath,
        after: Option<&OsStr>,
        limit: usize,
    ) -> Result<EntryPage, FileErrorCause> {
        let mut dir = Dir::new(self.open_at(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK)?)?;
        let (names, more) = first_names(&mut dir, after, limit)?;
        let next = if more { names.last().cloned() } else { None };
        let mut items = Vec::with_capacity(names.len());
        for name in names {
            match fs::statat(dir.fd()?, &name, AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT) {
                Ok(stat) => items.push(FileEntry::new(path, &name, &EntryMetadata::from(&stat))),
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(EntryPage { items, next })
    }
}

impl FileEntry {
    fn new(dir: &RootedPath, name: &OsStr, stat: &EntryMetadata) -> Self {
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

/// The `limit` smallest names after `after`, and whether there are more. The heap drops its largest name as it goes.
fn first_names(dir: &mut Dir, after: Option<&OsStr>, limit: usize) -> Result<(Vec<OsString>, bool), Errno> {
    let mut smallest = BinaryHeap::new();
    let mut more = false;
    while let Some(entry) = dir.read() {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." || after.is_some_and(|after| name <= after) {
            continue;
        }
        if smallest.len() < limit {
            smallest.push(name.to_owned());
            continue;
        }
        more = true;
        if let Some(mut largest) = smallest.peek_mut()
            && name < largest.as_os_str()
        {
            *largest = name.to_owned();
        }
    }
    Ok((smallest.into_sorted_vec(), more))
}
