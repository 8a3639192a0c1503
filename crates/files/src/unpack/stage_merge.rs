//! Moves the staged tree into place, and can undo that.

use std::{
    ffi::{OsStr, OsString},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
};

use rustix::{
    fs::{self, AtFlags, Dir, FileType, OFlags, RenameFlags},
    io::Errno,
};

use super::{Error, MemberRefusal, error::MemberError, staging_directory::descend};
use crate::{IfExists, rename::rename_into_place, root_directory::open_child};

/// The number of attempts when another process creates or removes the name at the same moment.
const TRIES_MAX: usize = 8;

/// The move from the staging directory to the destination, with the steps taken so far.
pub(super) struct StageMerge<'a> {
    new: BorrowedFd<'a>,
    dest: BorrowedFd<'a>,
    old: BorrowedFd<'a>,
    steps: Vec<MergeStep>,
}

/// A change to one name, below both `new` and `dest`.
#[derive(Debug)]
struct MergeStep {
    parents: Vec<OsString>,
    name: OsString,
    how: StepKind,
}

/// One name in a staged directory and in the directory that it is moved to.
#[derive(Clone, Copy)]
struct StagedEntry<'e> {
    from: &'e OwnedFd,
    to: &'e OwnedFd,
    /// The path of both directories, below `new` and `dest`.
    parents: &'e [OsString],
    name: &'e OsStr,
}

#[derive(Debug)]
enum StepKind {
    /// The name was free; the entry was moved.
    Moved,
    /// The entry was exchanged with the existing one, which is now in `new`.
    Exchanged,
    /// The existing entry was moved to `old` under this name. A `Moved` step for the same name follows.
    SetAside(OsString),
}

impl<'a> StageMerge<'a> {
    pub(super) fn new(new: BorrowedFd<'a>, dest: BorrowedFd<'a>, old: BorrowedFd<'a>) -> Self {
        Self { new, dest, old, steps: Vec::new() }
    }

    /// Moves everything. A directory that the destination does not have is moved as a whole; existing ones are merged.
    pub(super) fn run(&mut self) -> Result<(), Error> {
        let mut pending = vec![Vec::new()];
        while let Some(parents) = pending.pop() {
            let shown = |name: &OsStr| {
                parents.iter().collect::<std::path::PathBuf>().join(name).display().to_string()
            };
            let opened = descend(self.new, &parents)
                .and_then(|from| Ok((names(&from)?, from, descend(self.dest, &parents)?)))
                .map_err(MemberError::from);
            let (names, from, to) = opened.map_err(|fault| fault.with_name(&shown(OsStr::new(""))))?;
            for name in names {
                let entry = StagedEntry { from: &from, to: &to, parents: &parents, name: &name };
                match self.move_entry(entry).map_err(|fault| fault.with_name(&shown(&name)))? {
                    MergeOutcome::Whole => {}
                    MergeOutcome::MergeBelow => pending.push(parents.iter().cloned().chain([name]).collect()),
                }
            }
        }
        Ok(())
    }

    /// Undoes all steps, the last one first; `false` when a step could not be undone.
    pub(super) fn undo(&mut self) -> bool {
        let mut complete = true;
        while let Some(step) = self.steps.pop() {
            if let Err(errno) = self.undo_step(&step) {
                tracing::error!(%errno, ?step, "could not undo the move of an unpacked entry");
                complete = false;
            }
        }
        complete
    }

    fn move_entry(&mut self, entry: StagedEntry<'_>) -> Result<MergeOutcome, MemberError> {
        let StagedEntry { from, to, name, .. } = entry;
        let staged = kind(from, name)?;
        for _ in 0..TRIES_MAX {
            let attempt = match kind(to, name) {
                Err(Errno::NOENT) => self.move_to_free_name(entry),
                Ok(FileType::Directory) if staged == FileType::Directory => {
                    return Ok(MergeOutcome::MergeBelow);
                }
                Ok(FileType::Symlink) if staged == FileType::Directory => {
                    return Err(MemberRefusal::ThroughLink.into());
                }
                Ok(there) if staged == FileType::Directory || there == FileType::Directory => {
                    return Err(MemberRefusal::Conflict.into());
                }
                Ok(_) => self.replace(entry),
                Err(errno) => return Err(errno.into()),
            };
            match attempt {
                Err(Errno::NOENT | Errno::EXIST) => {}
                attempt => return Ok(attempt.map(|()| MergeOutcome::Whole)?),
            }
        }
        Err(Errno::BUSY.into())
    }

    fn move_to_free_name(&mut self, entry: StagedEntry<'_>) -> Result<(), Errno> {
        let StagedEntry { from, to, name, .. } = entry;
        self.step(entry, StepKind::Moved, || rename_into_place(from, name, to, name, IfExists::Refuse))
    }

    fn replace(&mut self, entry: StagedEntry<'_>) -> Result<(), Errno> {
        let StagedEntry { from, to, name, .. } = entry;
        let exchange = || fs::renameat_with(from, name, to, name, RenameFlags::EXCHANGE);
        match self.step(entry, StepKind::Exchanged, exchange) {
            Err(Errno::INVAL | Errno::NOSYS) => self.replace_in_two_steps(entry),
            // Another process may have put a directory there since the check; it must not be removed with the stage. The
            // exchange is recorded, so `undo` puts it back.
            Ok(()) if kind(from, name)? == FileType::Directory => Err(Errno::ISDIR),
            result => result,
        }
    }

    /// For network filesystems, which cannot exchange: for a moment the name does not exist.
    fn replace_in_two_steps(&mut self, entry: StagedEntry<'_>) -> Result<(), Errno> {
        let StagedEntry { to, name, .. } = entry;
        let aside = OsString::from(self.steps.len().to_string());
        let old = self.old;
        self.step(entry, StepKind::SetAside(aside.clone()), || fs::renameat(to, name, old, &aside))?;
        self.move_to_free_name(entry)
    }

    fn step(
        &mut self,
        StagedEntry { parents, name, .. }: StagedEntry<'_>,
        how: StepKind,
        run: impl FnOnce() -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        run()?;
        self.steps.push(MergeStep { parents: parents.to_owned(), name: name.to_owned(), how });
        Ok(())
    }

    fn undo_step(&self, step: &MergeStep) -> Result<(), Errno> {
        let (from, to) = (descend(self.new, &step.parents)?, descend(self.dest, &step.parents)?);
        let name = &step.name;
        match &step.how {
            StepKind::Moved => fs::renameat(to, name, from, name),
            StepKind::Exchanged => fs::renameat_with(from, name, to, name, RenameFlags::EXCHANGE),
            StepKind::SetAside(aside) => fs::renameat(self.old, aside, to, name),
        }
    }
}

enum MergeOutcome {
    /// The entry is in place, with everything below it.
    Whole,
    /// Both sides have a directory of that name.
    MergeBelow,
}

fn kind(dir: impl AsFd, name: &OsStr) -> Result<FileType, Errno> {
    Ok(FileType::from_raw_mode(fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode))
}

/// All names of a staged directory, read in advance: moving entries while reading could skip some.
fn names(dir: &OwnedFd) -> Result<Vec<OsString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::new(open_child(dir, OsStr::new("."), OFlags::RDONLY)?)? {
        match entry?.file_name().to_bytes() {
            b"." | b".." => {}
            name => names.push(OsStr::from_bytes(name).to_owned()),
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_replaced_without_exchange_is_restored() {
        let dir = tempfile::tempdir().unwrap();
        let text = |name: &str| std::fs::read_to_string(dir.path().join(name)).ok();
        let handle = |name: &str| -> OwnedFd { std::fs::File::open(dir.path().join(name)).unwrap().into() };
        for name in ["new", "dest", "old"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        for side in ["new", "dest"] {
            std::fs::write(dir.path().join(side).join("a"), side).unwrap();
        }
        let (new, dest, old) = (handle("new"), handle("dest"), handle("old"));
        let mut merge = StageMerge::new(new.as_fd(), dest.as_fd(), old.as_fd());
        let entry = StagedEntry { from: &new, to: &dest, parents: &[], name: OsStr::new("a") };
        merge.replace_in_two_steps(entry).unwrap();
        assert_eq!((text("new/a"), text("dest/a").as_deref()), (None, Some("new")));
        assert!(merge.undo());
        assert_eq!((text("new/a").as_deref(), text("dest/a").as_deref()), (Some("new"), Some("dest")));
    }
}
