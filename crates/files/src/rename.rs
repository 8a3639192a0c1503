//! Moving entries, also to another filesystem.

use std::{
    ffi::OsStr,
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    fs::{self, AtFlags, FileType, Mode, RenameFlags},
    io::Errno,
};

use crate::{
    Cause, Error, Existing, Root, VirtualPath, copy,
    error::At,
    remove::{id, remove_tree},
    root::{DIRECTORY, Place, child},
    temp::with_hidden_name,
};

impl Root {
    /// Moves `from` to `to`; links at either end are moved or replaced themselves. On one filesystem it is one step.
    /// To another one it is a copy beside the target that takes its place in one step, and then the removal of the
    /// source: a crash in between leaves both.
    ///
    /// # Errors
    /// Of what is at `to`, unless the cause lies with `from`. [`Cause::IntoItself`], [`Cause::NotEmpty`] for
    /// a directory over one with entries, [`Cause::AlreadyExists`] with [`Existing::Refuse`].
    pub fn rename(&self, from: &VirtualPath, to: &VirtualPath, existing: Existing) -> Result<(), Error> {
        let source = self.place(&self.absolute(from)).at("move", from)?;
        let kind = fs::statat(&source.dir, &source.name, AtFlags::SYMLINK_NOFOLLOW).at("move", from)?;
        let target = self.place(&self.absolute(to)).at("move to", to)?;
        match rename_into_place(&source.dir, &source.name, &target.dir, &target.name, existing) {
            Err(Errno::XDEV) => move_across(&source, &target, existing).at("move to", to),
            Err(Errno::INVAL) if is_inside(&target.dir, (kind.st_dev, kind.st_ino)) => {
                Err(Error::new("move", from, Cause::IntoItself))
            }
            result => result.at("move to", to),
        }
    }
}

/// Renames in one step; with [`Existing::Refuse`] what is there stays there.
pub(crate) fn rename_into_place(
    from_dir: &OwnedFd,
    from: &OsStr,
    to_dir: &OwnedFd,
    to: &OsStr,
    existing: Existing,
) -> Result<(), Errno> {
    if existing == Existing::Replace {
        return fs::renameat(from_dir, from, to_dir, to);
    }
    match fs::renameat_with(from_dir, from, to_dir, to, RenameFlags::NOREPLACE) {
        // Network filesystems do not know the flag (and it is also what moving a directory into itself answers).
        Err(Errno::INVAL | Errno::NOSYS) => rename_to_free_name(from_dir, from, to_dir, to),
        result => result,
    }
}

/// The same without the kernel's help: taking the name is what fails when it is taken.
fn rename_to_free_name(from_dir: &OwnedFd, from: &OsStr, to_dir: &OwnedFd, to: &OsStr) -> Result<(), Errno> {
    let stat = fs::statat(from_dir, from, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        fs::linkat(from_dir, from, to_dir, to, AtFlags::empty())?;
        return fs::unlinkat(from_dir, from, AtFlags::empty());
    }
    fs::mkdirat(to_dir, to, Mode::from_raw_mode(0o700))?;
    fs::renameat(from_dir, from, to_dir, to).inspect_err(|_| {
        let _ = fs::unlinkat(to_dir, to, AtFlags::REMOVEDIR); // ours and empty, or somebody's by now
    })
}

fn move_across(source: &Place, target: &Place, existing: Existing) -> Result<(), Cause> {
    // Before gigabytes are copied in vain; the rename below is what decides.
    if existing == Existing::Refuse
        && fs::statat(&target.dir, &target.name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    {
        return Err(Cause::AlreadyExists);
    }
    // A directory of our own reserves the name beside the target, and is all there is to clean up.
    let (hidden, ()) = with_hidden_name(|name| fs::mkdirat(&target.dir, name, Mode::from_raw_mode(0o700)))?;
    let moved = child(&target.dir, &hidden, DIRECTORY).map_err(Cause::from).and_then(|beside| {
        copy::copy(&source.dir, &source.name, &beside, &target.name)?;
        Ok(rename_into_place(&beside, &target.name, &target.dir, &target.name, existing)?)
    });
    if let Err(errno) = remove_tree(target.dir.as_fd(), &hidden) {
        tracing::warn!(%errno, name = ?hidden, "a directory for moving was left behind");
    }
    moved?;
    match fs::unlinkat(&source.dir, &source.name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => Ok(remove_tree(source.dir.as_fd(), &source.name)?),
        result => Ok(result?),
    }
}

/// Whether `dir` is the directory `ancestor` or below it, by going up to the top.
fn is_inside(dir: &OwnedFd, ancestor: (u64, u64)) -> bool {
    let Ok(mut here) = dir.try_clone() else { return false };
    let Ok(mut at) = id(&here) else { return false };
    loop {
        if at == ancestor {
            return true;
        }
        let Ok(above) = child(&here, OsStr::new(".."), DIRECTORY) else { return false };
        let Ok(next) = id(&above) else { return false };
        if next == at {
            return false;
        }
        (here, at) = (above, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_flag_a_taken_name_stays_taken() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "file").unwrap();
        std::fs::create_dir_all(at("dir/below")).unwrap();
        std::fs::write(at("taken"), "taken").unwrap();
        let handle: OwnedFd = std::fs::File::open(dir.path()).unwrap().into();
        let rename = |from: &str, to: &str| rename_to_free_name(&handle, from.as_ref(), &handle, to.as_ref());
        for from in ["file", "dir"] {
            assert_eq!(rename(from, "taken"), Err(Errno::EXIST));
            assert!(at(from).exists());
            rename(from, &format!("{from}-moved")).unwrap();
            assert!(!at(from).exists());
        }
        assert_eq!(std::fs::read_to_string(at("taken")).unwrap(), "taken");
        assert_eq!(std::fs::read_to_string(at("file-moved")).unwrap(), "file");
        assert!(at("dir-moved/below").is_dir());
        assert_eq!(rename("dir-moved", "dir-moved/below/x"), Err(Errno::INVAL));
        assert!(!at("dir-moved/below/x").exists(), "what was made to take the name is gone");
    }
}
