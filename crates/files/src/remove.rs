//! Removing entries and trees.

use std::{
    ffi::{CString, OsStr, OsString},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::{OsStrExt, OsStringExt},
    },
};

use rustix::{
    fs::{self, AtFlags, Dir, FileType, OFlags},
    io::Errno,
};

use crate::{
    Error, FileErrorCause, FileOperation, RootDirectory, RootedPath, error::ErrorContext,
    root_directory::open_child,
};

/// The number of levels that keep their handle while the walk is below them. From deeper levels the walk returns through
/// `..`, checked against the directory it came from. So a level costs a few bytes, and no depth exhausts the handles.
const HANDLES_MAX: usize = 32;

/// The number of times that a directory is read again because another process adds entries while it is emptied.
const PASSES_MAX: usize = 64;

/// The extent of a removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RemovalScope {
    /// A file, a link, or an empty directory.
    #[default]
    Entry,
    /// Also a directory with everything in it. Links in it are removed, never followed.
    Tree,
}

impl RootDirectory {
    /// Removes the file or directory at `path`; a link at the end is removed itself.
    ///
    /// # Errors
    /// [`FileErrorCause::InvalidPath`] for the root, [`FileErrorCause::NotEmpty`] for a directory with entries unless `removal` is
    /// [`RemovalScope::Tree`]. A tree whose removal fails stays partly removed.
    pub fn remove(&self, path: &RootedPath, removal: RemovalScope) -> Result<(), Error> {
        self.remove_while(path, removal, || true)
    }

    /// As [`remove`](Self::remove), but calls `wanted` before each entry of a tree and stops when it returns `false`.
    ///
    /// # Errors
    /// As [`remove`](Self::remove), and [`FileErrorCause::Stopped`] when it was stopped: the rest of the tree stays.
    pub fn remove_while(
        &self,
        path: &RootedPath,
        removal: RemovalScope,
        wanted: impl Fn() -> bool,
    ) -> Result<(), Error> {
        let absolute = self.absolute(path);
        self.locate(&absolute)
            .and_then(|place| match fs::unlinkat(&place.dir, &place.name, AtFlags::empty()) {
                // Linux returns EISDIR; POSIX allows EPERM.
                Err(Errno::ISDIR | Errno::PERM) => match removal {
                    RemovalScope::Entry => Ok(fs::unlinkat(&place.dir, &place.name, AtFlags::REMOVEDIR)?),
                    RemovalScope::Tree => Ok(remove_tree_while(place.dir.as_fd(), &place.name, &wanted)?),
                },
                result => Ok(result?),
            })
            .map_err(|cause| match cause {
                // An immutable file returns EPERM for the first call and ENOTDIR for the second.
                FileErrorCause::NotADirectory if self.stat(path, crate::LinkHandling::Keep).is_ok() => {
                    FileErrorCause::PermissionDenied
                }
                cause => cause,
            })
            .at(FileOperation::Remove, path)
    }
}

/// A directory on the path of the walk.
struct RemoveLevel {
    /// Its name in the level above.
    name: OsString,
    id: FileId,
    /// Its entries and its handle; closed while the walk is far below.
    dir: Option<Dir>,
    passes: usize,
}

impl RemoveLevel {
    fn open(parent: BorrowedFd<'_>, name: &OsStr) -> Result<Self, Errno> {
        let dir = open_child(parent, name, OFlags::RDONLY | OFlags::NONBLOCK)?;
        Ok(Self { name: name.to_owned(), id: FileId::read(&dir)?, dir: Some(Dir::new(dir)?), passes: 0 })
    }
}

/// Removes the directory `name` in `top` with everything in it, using a bounded number of handles whatever its depth.
pub(crate) fn remove_tree(top: BorrowedFd<'_>, name: &OsStr) -> Result<(), Errno> {
    remove_tree_while(top, name, &|| true)
}

fn remove_tree_while(top: BorrowedFd<'_>, name: &OsStr, wanted: &impl Fn() -> bool) -> Result<(), Errno> {
    let mut levels = vec![RemoveLevel::open(top, name)?];
    while let Some(level) = levels.last_mut() {
        let Some(dir) = &mut level.dir else { return Err(Errno::STALE) };
        if let Some(name) = empty_until_directory(dir, wanted)? {
            match RemoveLevel::open(dir.fd()?, &name) {
                Ok(below) => levels.push(below),
                Err(Errno::NOENT) => continue,
                Err(errno) => return Err(errno),
            }
            if let Some(far) = levels.len().checked_sub(HANDLES_MAX + 1) {
                levels[far].dir = None;
            }
            continue;
        }
        leave(top, &mut levels)?;
    }
    Ok(())
}

/// Removes entries up to the first directory, and returns its name.
fn empty_until_directory(dir: &mut Dir, wanted: &impl Fn() -> bool) -> Result<Option<OsString>, Errno> {
    while let Some(entry) = dir.read() {
        if !wanted() {
            return Err(Errno::CANCELED);
        }
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let directory = || Ok(Some(OsString::from_vec(CString::from(name).into_bytes())));
        if entry.file_type() == FileType::Directory {
            return directory();
        }
        match fs::unlinkat(dir.fd()?, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(Errno::ISDIR) => return directory(),
            Err(errno) => return Err(errno),
        }
    }
    Ok(None)
}

/// Removes the last level, which is empty now, from the one above, and continues there.
fn leave(top: BorrowedFd<'_>, levels: &mut Vec<RemoveLevel>) -> Result<(), Errno> {
    let Some(mut level) = levels.pop() else { return Ok(()) };
    if let (Some(above), Some(dir)) = (levels.last_mut(), &level.dir)
        && above.dir.is_none()
    {
        above.dir = Some(open_parent(dir.fd()?, above.id)?);
    }
    let parent = match levels.last().and_then(|above| above.dir.as_ref()) {
        Some(above) => above.fd()?,
        None => top,
    };
    match fs::unlinkat(parent, &level.name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(Errno::NOTEMPTY | Errno::EXIST) if level.passes < PASSES_MAX => {
            level.passes += 1;
            if let Some(dir) = &mut level.dir {
                dir.rewind();
            }
            levels.push(level);
            Ok(())
        }
        Err(errno) => Err(errno),
    }
}

/// Opens the parent directory if it is still the one that the walk came from: a directory that was moved meanwhile must not
/// lead the walk into another tree.
fn open_parent(below: BorrowedFd<'_>, expected: FileId) -> Result<Dir, Errno> {
    let above = open_child(below, OsStr::from_bytes(b".."), OFlags::RDONLY)?;
    if FileId::read(&above)? == expected { Dir::new(above) } else { Err(Errno::STALE) }
}

/// Identifies a file or directory on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl FileId {
    pub(crate) fn read(file: &OwnedFd) -> Result<Self, Errno> {
        let stat = fs::fstat(file)?;
        Ok(Self { device: stat.st_dev, inode: stat.st_ino })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_does_not_return_into_a_directory_that_it_did_not_come_from() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        std::fs::create_dir(dir.path().join("elsewhere")).unwrap();
        let open = |name: &str| -> OwnedFd { std::fs::File::open(dir.path().join(name)).unwrap().into() };
        let (above, below) = (FileId::read(&open("a")).unwrap(), open("a/b"));
        assert!(open_parent(below.as_fd(), above).is_ok());
        std::fs::rename(dir.path().join("a/b"), dir.path().join("elsewhere/b")).unwrap();
        assert_eq!(open_parent(below.as_fd(), above).unwrap_err(), Errno::STALE);
    }
}
