//! A directory that is held open, for those who walk.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    os::{fd::BorrowedFd, unix::ffi::OsStrExt},
};

use rustix::{
    fs::{self, AtFlags, Dir, FileType, Mode, OFlags},
    io::Errno,
};

use crate::{Cause, Error, FileKind, Links, Root, Stat, VirtualPath, error::At};

/// A directory that is held open. What is opened in it is in it, wherever it is moved meanwhile.
#[derive(Debug)]
pub struct Directory {
    dir: Dir,
    path: VirtualPath,
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub name: OsString,
    /// What kind of thing; a link is one, whatever it points to.
    pub kind: FileKind,
}

impl Root {
    /// Opens the directory `path`.
    ///
    /// # Errors
    /// [`Cause::NotADirectory`] for a file, and with [`Links::Keep`] for a link.
    pub fn directory(&self, path: &VirtualPath, links: Links) -> Result<Directory, Error> {
        let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK;
        if links == Links::Keep {
            flags |= OFlags::NOFOLLOW;
        }
        let handle = self.open_at(&self.absolute(path), flags).at("list", path)?;
        Ok(Directory { dir: Dir::new(handle).at("list", path)?, path: path.clone() })
    }
}

impl Directory {
    /// What is in it, sorted by the bytes of the names: at most so many, and whether there are more.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn names(&mut self, most: usize) -> Result<(Vec<Name>, bool), Error> {
        self.read_names(most).at("list", &self.path)
    }

    fn read_names(&mut self, most: usize) -> Result<(Vec<Name>, bool), Errno> {
        let mut names = Vec::new();
        self.dir.rewind();
        while let Some(entry) = self.dir.read() {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if names.len() >= most {
                names.sort_unstable_by(|one: &Name, two| one.name.cmp(&two.name));
                return Ok((names, true));
            }
            let kind = match entry.file_type() {
                // Some filesystems do not say.
                FileType::Unknown => match fs::statat(self.dir.fd()?, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => Stat::from(&stat).kind,
                    Err(Errno::NOENT) => continue,
                    Err(errno) => return Err(errno),
                },
                kind => kind.into(),
            };
            names.push(Name { name: name.to_owned(), kind });
        }
        names.sort_unstable_by(|one, two| one.name.cmp(&two.name));
        Ok((names, false))
    }

    /// Opens a regular file in it, never through a link.
    ///
    /// # Errors
    /// [`Cause::NotAFile`] for anything else.
    pub fn open_read(&self, name: &OsStr) -> Result<(File, Stat), Error> {
        self.open_regular(name).at("read", &self.path)
    }

    fn open_regular(&self, name: &OsStr) -> Result<(File, Stat), Cause> {
        if name.as_bytes().contains(&b'/') || name == ".." {
            return Err(Cause::InvalidPath { reason: "it is more than a name" });
        }
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match fs::openat(self.handle()?, name, flags, Mode::empty()) {
            Err(Errno::LOOP) => return Err(Cause::NotAFile),
            file => File::from(file?),
        };
        let stat = Stat::of(&file)?;
        if stat.kind == FileKind::File { Ok((file, stat)) } else { Err(Cause::NotAFile) }
    }

    pub(crate) fn handle(&self) -> Result<BorrowedFd<'_>, Errno> {
        self.dir.fd()
    }
}
