//! Moving a staged tree into place, with a way back.

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

use super::{Error, Refusal, error::Fault, stage::descend};
use crate::{Existing, rename::rename_into_place, root::child};

/// How often a name is looked at again because somebody else took or freed it just then.
const TRIES_MAX: usize = 8;

/// A move from the stage to the destination, and the steps taken so far.
pub(super) struct Merge<'a> {
    new: BorrowedFd<'a>,
    dest: BorrowedFd<'a>,
    old: BorrowedFd<'a>,
    steps: Vec<Step>,
}

/// What was done to one name, below both `new` and `dest`.
#[derive(Debug)]
struct Step {
    parents: Vec<OsString>,
    name: OsString,
    how: How,
}

#[derive(Debug)]
enum How {
    /// The name was free.
    Moved,
    /// What was there is now at the same name in `new`.
    Exchanged,
    /// What was there is now in `old`, under this name; a `Moved` of the same name follows.
    SetAside(OsString),
}

impl<'a> Merge<'a> {
    pub(super) fn new(new: BorrowedFd<'a>, dest: BorrowedFd<'a>, old: BorrowedFd<'a>) -> Self {
        Self { new, dest, old, steps: Vec::new() }
    }

    /// Moves everything. A directory that the destination lacks moves as a whole; one that it has is merged.
    pub(super) fn run(&mut self) -> Result<(), Error> {
        let mut pending = vec![Vec::new()];
        while let Some(parents) = pending.pop() {
            let shown = |name: &OsStr| {
                parents.iter().collect::<std::path::PathBuf>().join(name).display().to_string()
            };
            let opened = descend(self.new, &parents)
                .and_then(|from| Ok((names(&from)?, from, descend(self.dest, &parents)?)))
                .map_err(Fault::from);
            let (names, from, to) = opened.map_err(|fault| fault.named(&shown(OsStr::new(""))))?;
            for name in names {
                match self.place(&from, &to, &parents, &name).map_err(|fault| fault.named(&shown(&name)))? {
                    Placed::Whole => {}
                    Placed::MergeBelow => pending.push(parents.iter().cloned().chain([name]).collect()),
                }
            }
        }
        Ok(())
    }

    /// Takes all steps back, the last first; `false` when that failed somewhere.
    pub(super) fn undo(&mut self) -> bool {
        let mut whole = true;
        while let Some(step) = self.steps.pop() {
            if let Err(errno) = self.undo_step(&step) {
                tracing::error!(%errno, ?step, "an unpacked entry could not be taken back");
                whole = false;
            }
        }
        whole
    }

    fn place(
        &mut self,
        from: &OwnedFd,
        to: &OwnedFd,
        parents: &[OsString],
        name: &OsStr,
    ) -> Result<Placed, Fault> {
        let staged = kind(from, name)?;
        for _ in 0..TRIES_MAX {
            let attempt = match kind(to, name) {
                Err(Errno::NOENT) => self.step(parents, name, How::Moved, || {
                    rename_into_place(from, name, to, name, Existing::Refuse)
                }),
                Ok(FileType::Directory) if staged == FileType::Directory => return Ok(Placed::MergeBelow),
                Ok(FileType::Symlink) if staged == FileType::Directory => {
                    return Err(Refusal::ThroughLink.into());
                }
                Ok(there) if staged == FileType::Directory || there == FileType::Directory => {
                    return Err(Refusal::Conflict.into());
                }
                Ok(_) => self.replace(from, to, parents, name),
                Err(errno) => return Err(errno.into()),
            };
            match attempt {
                Err(Errno::NOENT | Errno::EXIST) => {}
                attempt => return Ok(attempt.map(|()| Placed::Whole)?),
            }
        }
        Err(Errno::BUSY.into())
    }

    fn replace(
        &mut self,
        from: &OwnedFd,
        to: &OwnedFd,
        parents: &[OsString],
        name: &OsStr,
    ) -> Result<(), Errno> {
        let exchange = || fs::renameat_with(from, name, to, name, RenameFlags::EXCHANGE);
        match self.step(parents, name, How::Exchanged, exchange) {
            Err(Errno::INVAL | Errno::NOSYS) => self.replace_in_two(from, to, parents, name),
            // Somebody may have put a directory there since it was looked at: it is not ours to remove.
            Ok(()) if kind(from, name)? == FileType::Directory => Err(Errno::ISDIR),
            result => result,
        }
    }

    /// For network filesystems, which cannot exchange: there is a moment when the name is free.
    fn replace_in_two(
        &mut self,
        from: &OwnedFd,
        to: &OwnedFd,
        parents: &[OsString],
        name: &OsStr,
    ) -> Result<(), Errno> {
        let aside = OsString::from(self.steps.len().to_string());
        let old = self.old;
        self.step(parents, name, How::SetAside(aside.clone()), || fs::renameat(to, name, old, &aside))?;
        self.step(parents, name, How::Moved, || rename_into_place(from, name, to, name, Existing::Refuse))
    }

    fn step(
        &mut self,
        parents: &[OsString],
        name: &OsStr,
        how: How,
        run: impl FnOnce() -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        run()?;
        self.steps.push(Step { parents: parents.to_owned(), name: name.to_owned(), how });
        Ok(())
    }

    fn undo_step(&self, step: &Step) -> Result<(), Errno> {
        let (from, to) = (descend(self.new, &step.parents)?, descend(self.dest, &step.parents)?);
        let name = &step.name;
        match &step.how {
            How::Moved => fs::renameat(to, name, from, name),
            How::Exchanged => fs::renameat_with(from, name, to, name, RenameFlags::EXCHANGE),
            How::SetAside(aside) => fs::renameat(self.old, aside, to, name),
        }
    }
}

enum Placed {
    /// It is in place, with everything below it.
    Whole,
    /// Both sides have a directory of that name.
    MergeBelow,
}

fn kind(dir: impl AsFd, name: &OsStr) -> Result<FileType, Errno> {
    Ok(FileType::from_raw_mode(fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode))
}

/// All names of a staged directory: moving them while reading might skip some.
fn names(dir: &OwnedFd) -> Result<Vec<OsString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::new(child(dir, OsStr::new("."), OFlags::RDONLY)?)? {
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
    fn what_was_replaced_without_an_exchange_comes_back() {
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
        let mut merge = Merge::new(new.as_fd(), dest.as_fd(), old.as_fd());
        merge.replace_in_two(&new, &dest, &[], OsStr::new("a")).unwrap();
        assert_eq!((text("new/a"), text("dest/a").as_deref()), (None, Some("new")));
        assert!(merge.undo());
        assert_eq!((text("new/a").as_deref(), text("dest/a").as_deref()), (Some("new"), Some("dest")));
    }
}
