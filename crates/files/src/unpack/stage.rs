//! The hidden directory an archive is unpacked into before anything of it is seen.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::Write,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{self, AtFlags, FileType, Mode, OFlags, Timespec, Timestamps},
    io::Errno,
};

use super::{Error, Refusal, error::Fault, merge::Merge, name::Name};
use crate::{
    VirtualPath,
    error::At,
    remove::remove_tree,
    root::{DIRECTORY, child},
    temp::with_hidden_name,
};

/// A hidden directory in the destination: `new` is what the archive holds, `old` takes what it replaces where names
/// cannot be exchanged. Removed on drop.
#[derive(Debug)]
pub(super) struct Stage<'a> {
    dest: OwnedFd,
    dest_path: &'a VirtualPath,
    hidden: OsString,
    new: OwnedFd,
    old: OwnedFd,
    /// The directory the last member went into: the next one mostly goes there too.
    last: Option<(Vec<OsString>, OwnedFd)>,
    keep: bool,
}

/// A file of the archive, being written.
#[derive(Debug)]
pub(super) struct NewFile(File);

impl<'a> Stage<'a> {
    pub(super) fn new(dest: OwnedFd, dest_path: &'a VirtualPath) -> Result<Self, Error> {
        let private = Mode::from_raw_mode(0o700);
        let (hidden, ()) =
            with_hidden_name(|name| fs::mkdirat(&dest, name, private)).at("unpack into", dest_path)?;
        let parts = || {
            let stage = child(&dest, &hidden, DIRECTORY)?;
            fs::mkdirat(&stage, "new", private)?;
            fs::mkdirat(&stage, "old", private)?;
            Ok((child(&stage, OsStr::new("new"), DIRECTORY)?, child(&stage, OsStr::new("old"), DIRECTORY)?))
        };
        let result: Result<_, Errno> = parts();
        match result.at("unpack into", dest_path) {
            Ok((new, old)) => Ok(Self { dest, dest_path, hidden, new, old, last: None, keep: false }),
            Err(error) => {
                let _ = remove_tree(dest.as_fd(), &hidden); // the first error is the one to tell
                Err(error.into())
            }
        }
    }

    pub(super) fn directory(&mut self, name: &Name, mode: u32) -> Result<(), Fault> {
        // `./` is the destination, which keeps its own bits.
        if name.split().is_none() {
            return Ok(());
        }
        let dir = self.enter(name.parts())?;
        // Its owner must be able to fill, move and remove it, whatever the archive says.
        let readable = child(dir, OsStr::new("."), OFlags::RDONLY)?;
        Ok(fs::fchmod(readable, Mode::from_raw_mode(mode & 0o777 | 0o700))?)
    }

    pub(super) fn file(&mut self, name: &Name) -> Result<NewFile, Fault> {
        let (dir, last) = self.free(name)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(NewFile(fs::openat(dir, last, flags, Mode::from_raw_mode(0o600))?.into()))
    }

    pub(super) fn symlink(&mut self, name: &Name, target: &[u8]) -> Result<(), Fault> {
        let target = name.check_target(target)?;
        let (dir, last) = self.free(name)?;
        Ok(fs::symlinkat(target, dir, last)?)
    }

    pub(super) fn hard_link(&mut self, name: &Name, target: &Name) -> Result<(), Fault> {
        let (parents, file) = target.split().ok_or(Refusal::LinkDangles)?;
        // Only what this archive brought: a link to a file of the destination would share it with whoever has it.
        let from = descend(self.new.as_fd(), parents).map_err(|_| Refusal::LinkDangles)?;
        match fs::statat(&from, file, AtFlags::SYMLINK_NOFOLLOW)
            .map(|stat| FileType::from_raw_mode(stat.st_mode))
        {
            Ok(FileType::RegularFile) => {}
            _ => return Err(Refusal::LinkDangles.into()),
        }
        if name == target {
            return Ok(());
        }
        let (dir, last) = self.free(name)?;
        Ok(fs::linkat(from, file, dir, last, AtFlags::empty())?)
    }

    /// Moves everything into place, or nothing.
    pub(super) fn commit(&mut self) -> Result<(), Error> {
        let mut merge = Merge::new(self.new.as_fd(), self.dest.as_fd(), self.old.as_fd());
        let Err(error) = merge.run() else { return Ok(()) };
        if merge.undo() {
            return Err(error);
        }
        self.keep = true;
        Err(Error::NotUndone {
            dest: self.dest_path.to_string(),
            kept: self.hidden.to_string_lossy().into_owned(),
            source: Box::new(error),
        })
    }

    /// The directory of `name` and its last part, where an earlier file or link of that name is gone: the last wins.
    fn free<'n>(&mut self, name: &'n Name) -> Result<(BorrowedFd<'_>, &'n OsStr), Fault> {
        let (parents, last) = name.split().ok_or(Refusal::Conflict)?;
        let dir = self.enter(parents)?;
        match fs::unlinkat(dir, last, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok((dir, last)),
            Err(Errno::ISDIR) => Err(Refusal::Conflict.into()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The staged directory at `parts`, made where missing. Never through a link.
    fn enter(&mut self, parts: &[OsString]) -> Result<BorrowedFd<'_>, Fault> {
        if self.last.as_ref().is_none_or(|(at, _)| at != parts) {
            let mut dir = child(&self.new, OsStr::new("."), DIRECTORY)?;
            for part in parts {
                dir = match child(&dir, part, DIRECTORY) {
                    Err(Errno::NOENT) => {
                        fs::mkdirat(&dir, part, Mode::from_raw_mode(0o777))?;
                        child(&dir, part, DIRECTORY)?
                    }
                    Err(Errno::NOTDIR | Errno::LOOP) => return Err(in_the_way(&dir, part).into()),
                    dir => dir?,
                };
            }
            self.last = Some((parts.to_owned(), dir));
        }
        match &self.last {
            Some((_, dir)) => Ok(dir.as_fd()),
            None => Ok(self.new.as_fd()),
        }
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        if let Err(errno) = remove_tree(self.dest.as_fd(), &self.hidden) {
            tracing::warn!(%errno, dest = %self.dest_path, hidden = ?self.hidden, "a stage was left behind");
        }
    }
}

impl NewFile {
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        Ok(self.0.write_all(bytes)?)
    }

    /// Only `rwx`: nothing from an archive runs as somebody else.
    pub(super) fn finish(self, mode: u32, modified: Option<i64>) -> Result<(), Fault> {
        fs::fchmod(&self.0, Mode::from_raw_mode(mode & 0o777))?;
        if let Some(tv_sec) = modified {
            let time = Timespec { tv_sec, tv_nsec: 0 };
            // A time the filesystem cannot hold is no reason to refuse the file.
            let _ = fs::futimens(&self.0, &Timestamps { last_access: time, last_modification: time });
        }
        Ok(())
    }
}

/// The directory at `parts` below `top`, never through a link.
pub(super) fn descend(top: BorrowedFd<'_>, parts: &[OsString]) -> Result<OwnedFd, Errno> {
    let mut dir = child(top, OsStr::new("."), DIRECTORY)?;
    for part in parts {
        dir = child(&dir, part, DIRECTORY)?;
    }
    Ok(dir)
}

fn in_the_way(dir: &OwnedFd, name: &OsStr) -> Refusal {
    match fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        Ok(FileType::Symlink) => Refusal::ThroughLink,
        _ => Refusal::Conflict,
    }
}
