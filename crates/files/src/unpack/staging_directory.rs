//! The hidden directory that an archive is unpacked into before any of it becomes visible.

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

use super::{Error, MemberRefusal, error::MemberError, member_name::MemberName, stage_merge::StageMerge};
use crate::{
    FileOperation, RootedPath,
    error::ErrorContext,
    remove::remove_tree,
    root_directory::{DIRECTORY, open_child},
    temp_file::with_hidden_name,
};

/// A hidden directory in the destination. `new` receives the content of the archive; `old` receives replaced files where names
/// cannot be exchanged. It is removed on drop.
#[derive(Debug)]
pub(super) struct StagingDirectory<'a> {
    dest: OwnedFd,
    dest_path: &'a RootedPath,
    hidden: OsString,
    new: OwnedFd,
    old: OwnedFd,
    /// The directory of the last member; the next one usually has the same.
    last_directory: Option<(Vec<OsString>, OwnedFd)>,
    /// Whether it stays after a failed undo, because it contains the only copy of replaced files.
    keep: bool,
}

/// A file of the archive that is being written.
#[derive(Debug)]
pub(super) struct StagedFile(File);

impl<'a> StagingDirectory<'a> {
    pub(super) fn new(dest: OwnedFd, dest_path: &'a RootedPath) -> Result<Self, Error> {
        let private = Mode::from_raw_mode(0o700);
        let (hidden, ()) = with_hidden_name(|name| fs::mkdirat(&dest, name, private))
            .at(FileOperation::UnpackInto, dest_path)?;
        let parts = || {
            let stage = open_child(&dest, &hidden, DIRECTORY)?;
            fs::mkdirat(&stage, "new", private)?;
            fs::mkdirat(&stage, "old", private)?;
            Ok((
                open_child(&stage, OsStr::new("new"), DIRECTORY)?,
                open_child(&stage, OsStr::new("old"), DIRECTORY)?,
            ))
        };
        let result: Result<_, Errno> = parts();
        match result.at(FileOperation::UnpackInto, dest_path) {
            Ok((new, old)) => {
                Ok(Self { dest, dest_path, hidden, new, old, last_directory: None, keep: false })
            }
            Err(error) => {
                let _ = remove_tree(dest.as_fd(), &hidden); // the first error is the one to report
                Err(error.into())
            }
        }
    }

    pub(super) fn create_directory(&mut self, name: &MemberName, mode: u32) -> Result<(), MemberError> {
        // `./` is the destination, which keeps its own permissions.
        if name.split().is_none() {
            return Ok(());
        }
        let dir = self.open_or_create(name.parts())?;
        // The owner must be able to fill, move and remove it, whatever the archive states.
        let readable = open_child(dir, OsStr::new("."), OFlags::RDONLY)?;
        Ok(fs::fchmod(readable, Mode::from_raw_mode(mode & 0o777 | 0o700))?)
    }

    pub(super) fn create_file(&mut self, name: &MemberName) -> Result<StagedFile, MemberError> {
        let (dir, last) = self.make_free(name)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(StagedFile(fs::openat(dir, last, flags, Mode::from_raw_mode(0o600))?.into()))
    }

    pub(super) fn create_symlink(&mut self, name: &MemberName, target: &[u8]) -> Result<(), MemberError> {
        let target = name.check_target(target)?;
        let (dir, last) = self.make_free(name)?;
        Ok(fs::symlinkat(target, dir, last)?)
    }

    pub(super) fn create_hard_link(
        &mut self,
        name: &MemberName,
        target: &MemberName,
    ) -> Result<(), MemberError> {
        let (parents, file) = target.split().ok_or(MemberRefusal::LinkDangles)?;
        // Only files of this archive: a hard link to an existing file of the destination would share its content.
        let from = descend(self.new.as_fd(), parents).map_err(|_| MemberRefusal::LinkDangles)?;
        match fs::statat(&from, file, AtFlags::SYMLINK_NOFOLLOW)
            .map(|stat| FileType::from_raw_mode(stat.st_mode))
        {
            Ok(FileType::RegularFile) => {}
            _ => return Err(MemberRefusal::LinkDangles.into()),
        }
        if name == target {
            return Ok(());
        }
        let (dir, last) = self.make_free(name)?;
        Ok(fs::linkat(from, file, dir, last, AtFlags::empty())?)
    }

    /// Moves everything into place, or nothing.
    pub(super) fn commit(&mut self) -> Result<(), Error> {
        let mut merge = StageMerge::new(self.new.as_fd(), self.dest.as_fd(), self.old.as_fd());
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

    /// The directory of `name` and its last part. An earlier file or link of that name is removed: the last one wins.
    fn make_free<'n>(&mut self, name: &'n MemberName) -> Result<(BorrowedFd<'_>, &'n OsStr), MemberError> {
        let (parents, last) = name.split().ok_or(MemberRefusal::Conflict)?;
        let dir = self.open_or_create(parents)?;
        match fs::unlinkat(dir, last, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok((dir, last)),
            Err(Errno::ISDIR) => Err(MemberRefusal::Conflict.into()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// The staged directory at `parts`, created where missing. It never follows a link.
    fn open_or_create(&mut self, parts: &[OsString]) -> Result<BorrowedFd<'_>, MemberError> {
        if self.last_directory.as_ref().is_none_or(|(at, _)| at != parts) {
            let mut dir = open_child(&self.new, OsStr::new("."), DIRECTORY)?;
            for part in parts {
                dir = match open_child(&dir, part, DIRECTORY) {
                    Err(Errno::NOENT) => {
                        fs::mkdirat(&dir, part, Mode::from_raw_mode(0o777))?;
                        open_child(&dir, part, DIRECTORY)?
                    }
                    Err(Errno::NOTDIR | Errno::LOOP) => return Err(blocking_entry(&dir, part).into()),
                    dir => dir?,
                };
            }
            self.last_directory = Some((parts.to_owned(), dir));
        }
        match &self.last_directory {
            Some((_, dir)) => Ok(dir.as_fd()),
            None => Ok(self.new.as_fd()),
        }
    }
}

impl Drop for StagingDirectory<'_> {
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        if let Err(errno) = remove_tree(self.dest.as_fd(), &self.hidden) {
            tracing::warn!(%errno, dest = %self.dest_path, hidden = ?self.hidden, "could not remove the staging directory");
        }
    }
}

impl StagedFile {
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), MemberError> {
        Ok(self.0.write_all(bytes)?)
    }

    /// Only `rwx`: no file of an archive may run as another user (set-user-id).
    pub(super) fn finish(self, mode: u32, modified: Option<i64>) -> Result<(), MemberError> {
        fs::fchmod(&self.0, Mode::from_raw_mode(mode & 0o777))?;
        if let Some(tv_sec) = modified {
            let time = Timespec { tv_sec, tv_nsec: 0 };
            // A time that the filesystem cannot store is no reason to reject the file.
            let _ = fs::futimens(&self.0, &Timestamps { last_access: time, last_modification: time });
        }
        Ok(())
    }
}

/// Opens the directory at `parts` below `top`, never through a link.
pub(super) fn descend(top: BorrowedFd<'_>, parts: &[OsString]) -> Result<OwnedFd, Errno> {
    let mut dir = open_child(top, OsStr::new("."), DIRECTORY)?;
    for part in parts {
        dir = open_child(&dir, part, DIRECTORY)?;
    }
    Ok(dir)
}

/// Why a directory cannot be created at a name that is in use.
fn blocking_entry(dir: &OwnedFd, name: &OsStr) -> MemberRefusal {
    match fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        Ok(FileType::Symlink) => MemberRefusal::ThroughLink,
        _ => MemberRefusal::Conflict,
    }
}
