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

use crate::{Cause, Error, Root, VirtualPath, error::At, root::child};

/// How many levels keep their handle while the walk is below them. Deeper trees find their way back by `..`, checked
/// against what was left, so that depth costs a few bytes a level and never runs out of handles.
const HANDLES_MAX: usize = 32;

/// How often a directory is read again because somebody fills it while it is emptied.
const PASSES_MAX: usize = 64;

/// How much to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Removal {
    /// A file, a link, or a directory that is empty.
    #[default]
    Entry,
    /// A directory with everything in it, too. Links in it are removed, never followed.
    Tree,
}

impl Root {
    /// Removes what is at `path`; a link at the end is removed itself.
    ///
    /// # Errors
    /// [`Cause::InvalidPath`] for the root, [`Cause::NotEmpty`] for a directory with entries unless asked for the
    /// tree. A tree that fails half-way stays half removed.
    pub fn remove(&self, path: &VirtualPath, removal: Removal) -> Result<(), Error> {
        self.remove_while(path, removal, || true)
    }

    /// The same for as long as it is wanted, which is asked before each entry of a tree.
    ///
    /// # Errors
    /// As [`remove`](Self::remove), and [`Cause::Stopped`] when it is not wanted any more: what is left of the tree stays.
    pub fn remove_while(
        &self,
        path: &VirtualPath,
        removal: Removal,
        wanted: impl Fn() -> bool,
    ) -> Result<(), Error> {
        let absolute = self.absolute(path);
        self.place(&absolute)
            .and_then(|place| match fs::unlinkat(&place.dir, &place.name, AtFlags::empty()) {
                // Linux says EISDIR; POSIX allows EPERM.
                Err(Errno::ISDIR | Errno::PERM) => match removal {
                    Removal::Entry => Ok(fs::unlinkat(&place.dir, &place.name, AtFlags::REMOVEDIR)?),
                    Removal::Tree => Ok(remove_tree_while(place.dir.as_fd(), &place.name, &wanted)?),
                },
                result => Ok(result?),
            })
            .map_err(|cause| match cause {
                // An immutable file answers EPERM to the first call and ENOTDIR to the second.
                Cause::NotADirectory if self.stat(path, crate::Links::Keep).is_ok() => {
                    Cause::PermissionDenied
                }
                cause => cause,
            })
            .at("remove", path)
    }
}

/// A directory on the way down.
struct Level {
    /// Its name in the level above.
    name: OsString,
    id: (u64, u64),
    /// Its entries and its handle; let go when the walk is far below.
    dir: Option<Dir>,
    passes: usize,
}

impl Level {
    fn open(parent: BorrowedFd<'_>, name: &OsStr) -> Result<Self, Errno> {
        let dir = child(parent, name, OFlags::RDONLY | OFlags::NONBLOCK)?;
        Ok(Self { name: name.to_owned(), id: id(&dir)?, dir: Some(Dir::new(dir)?), passes: 0 })
    }
}

/// Removes the directory `name` of `top` and everything in it, with a handful of handles however deep it is.
pub(crate) fn remove_tree(top: BorrowedFd<'_>, name: &OsStr) -> Result<(), Errno> {
    remove_tree_while(top, name, &|| true)
}

fn remove_tree_while(top: BorrowedFd<'_>, name: &OsStr, wanted: &impl Fn() -> bool) -> Result<(), Errno> {
    let mut levels = vec![Level::open(top, name)?];
    while let Some(level) = levels.last_mut() {
        let Some(dir) = &mut level.dir else { return Err(Errno::STALE) };
        if let Some(name) = empty_until_directory(dir, wanted)? {
            match Level::open(dir.fd()?, &name) {
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

/// Removes what is not a directory, up to the first directory, whose name it returns.
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

/// Removes the last level, now empty, from the one above.
fn leave(top: BorrowedFd<'_>, levels: &mut Vec<Level>) -> Result<(), Errno> {
    let Some(mut level) = levels.pop() else { return Ok(()) };
    if let (Some(above), Some(dir)) = (levels.last_mut(), &level.dir)
        && above.dir.is_none()
    {
        above.dir = Some(back_up(dir.fd()?, above.id)?);
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

/// Opens the directory above, if it is still the one the walk came from: a directory that was moved meanwhile must
/// not lead it somewhere else.
fn back_up(below: BorrowedFd<'_>, expected: (u64, u64)) -> Result<Dir, Errno> {
    let above = child(below, OsStr::from_bytes(b".."), OFlags::RDONLY)?;
    if id(&above)? == expected { Dir::new(above) } else { Err(Errno::STALE) }
}

/// What tells one directory from another.
pub(crate) fn id(dir: &OwnedFd) -> Result<(u64, u64), Errno> {
    let stat = fs::fstat(dir)?;
    Ok((stat.st_dev, stat.st_ino))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_up_ends_where_it_no_longer_leads_to_where_it_came_from() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        std::fs::create_dir(dir.path().join("elsewhere")).unwrap();
        let open = |name: &str| -> OwnedFd { std::fs::File::open(dir.path().join(name)).unwrap().into() };
        let (above, below) = (id(&open("a")).unwrap(), open("a/b"));
        assert!(back_up(below.as_fd(), above).is_ok());
        std::fs::rename(dir.path().join("a/b"), dir.path().join("elsewhere/b")).unwrap();
        assert_eq!(back_up(below.as_fd(), above).unwrap_err(), Errno::STALE);
    }
}
