//! An open directory, for callers that walk a tree.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    os::{fd::BorrowedFd, unix::ffi::OsStrExt},
};

use rustix::{
    fs::{self, AtFlags, Dir, FileType, Mode, OFlags},
    io::Errno,
};

use crate::{
    EntryMetadata, EntryType, Error, FileErrorCause, FileOperation, LinkHandling, RootDirectory, RootedPath,
    error::ErrorContext,
};

/// An open directory. Files are opened relative to it, wherever it is moved meanwhile.
#[derive(Debug)]
pub struct OpenDirectory {
    dir: Dir,
    path: RootedPath,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// The name.
    pub name: OsString,
    /// The kind of file; for a link it is the link itself.
    pub kind: EntryType,
}

impl RootDirectory {
    /// Opens the directory `path`.
    ///
    /// # Errors
    /// [`FileErrorCause::NotADirectory`] for a file, and with [`LinkHandling::Keep`] for a link.
    pub fn directory(&self, path: &RootedPath, links: LinkHandling) -> Result<OpenDirectory, Error> {
        let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
        if links == LinkHandling::Keep {
            flags |= OFlags::NOFOLLOW;
        }
        let handle = self.open_at(&self.absolute(path), flags).at(FileOperation::List, path)?;
        Ok(OpenDirectory { dir: Dir::new(handle).at(FileOperation::List, path)?, path: path.clone() })
    }
}

impl OpenDirectory {
    /// The entries, sorted by the bytes of their names: at most `most`, and whether there are more.
    ///
    /// # Errors
    /// Errors of reading the directory.
    pub fn names(&mut self, most: usize) -> Result<(Vec<DirEntry>, bool), Error> {
        self.read_names(most).at(FileOperation::List, &self.path)
    }

    fn read_names(&mut self, most: usize) -> Result<(Vec<DirEntry>, bool), Errno> {
        let mut names = Vec::new();
        self.dir.rewind();
        while let Some(entry) = self.dir.read() {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if names.len() >= most {
                names.sort_unstable_by(|one: &DirEntry, two| one.name.cmp(&two.name));
                return Ok((names, true));
            }
            let kind = match entry.file_type() {
                // Some filesystems do not report the kind.
                FileType::Unknown => match fs::statat(self.dir.fd()?, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => EntryMetadata::from(&stat).kind,
                    Err(Errno::NOENT) => continue,
                    Err(errno) => return Err(errno),
                },
                kind => kind.into(),
            };
            names.push(DirEntry { name: name.to_owned(), kind });
        }
        names.sort_unstable_by(|one, two| one.name.cmp(&two.name));
        Ok((names, false))
    }

    /// Opens a regular file of the directory, never through a link.
    ///
    /// # Errors
    /// [`FileErrorCause::NotAFile`] for anything else.
    pub fn open_read(&self, name: &OsStr) -> Result<(File, EntryMetadata), Error> {
        self.open_regular(name).at(FileOperation::Read, &self.path)
    }

    fn open_regular(&self, name: &OsStr) -> Result<(File, EntryMetadata), FileErrorCause> {
        if name.as_bytes().contains(&b'/') || name == ".." {
            return Err(FileErrorCause::InvalidPath {
                reason: "a single name is required, without `/` or `..`",
            });
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match fs::openat(self.handle()?, name, flags, Mode::empty()) {
            Err(Errno::LOOP) => return Err(FileErrorCause::NotAFile),
            file => File::from(file?),
        };
        let stat = EntryMetadata::read(&file)?;
        if stat.kind == EntryType::File { Ok((file, stat)) } else { Err(FileErrorCause::NotAFile) }
    }

    pub(crate) fn handle(&self) -> Result<BorrowedFd<'_>, Errno> {
        self.dir.fd()
    }
}
