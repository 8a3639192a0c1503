//! Moving files and directories, also to another filesystem.

use std::{
    ffi::OsStr,
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    fs::{self, AtFlags, FileType, Mode, RenameFlags},
    io::Errno,
};

use crate::{
    Error, FileErrorCause, FileOperation, IfExists, RootDirectory, RootedPath, copy,
    error::ErrorContext,
    remove::{FileId, remove_tree},
    root_directory::{DIRECTORY, EntryLocation, open_child},
    temp_file::with_hidden_name,
};

impl RootDirectory {
    /// Moves `from` to `to`; a link at either end is moved or replaced itself. Within a filesystem this is atomic. To another one,
    /// `from` is copied beside the target, the copy is renamed atomically, and then `from` is removed: a crash in between leaves
    /// both.
    ///
    /// # Errors
    /// The error names `to` unless the cause lies with `from`. [`FileErrorCause::IntoItself`], [`FileErrorCause::NotEmpty`] when `to` is a directory
    /// with entries, [`FileErrorCause::AlreadyExists`] with [`IfExists::Refuse`].
    pub fn rename(&self, from: &RootedPath, to: &RootedPath, existing: IfExists) -> Result<(), Error> {
        let source = self.locate(&self.absolute(from)).at(FileOperation::Move, from)?;
        let stat =
            fs::statat(&source.dir, &source.name, AtFlags::SYMLINK_NOFOLLOW).at(FileOperation::Move, from)?;
        let target = self.locate(&self.absolute(to)).at(FileOperation::MoveTo, to)?;
        match rename_into_place(&source.dir, &source.name, &target.dir, &target.name, existing) {
            Err(Errno::XDEV) => move_across(&source, &target, existing).at(FileOperation::MoveTo, to),
            Err(Errno::INVAL)
                if is_inside(&target.dir, FileId { device: stat.st_dev, inode: stat.st_ino }) =>
            {
                Err(Error::new(FileOperation::Move, from, FileErrorCause::IntoItself))
            }
            result => result.at(FileOperation::MoveTo, to),
        }
    }
}

/// Renames atomically; with [`IfExists::Refuse`] an existing target stays.
pub(crate) fn rename_into_place(
    from_dir: &OwnedFd,
    from: &OsStr,
    to_dir: &OwnedFd,
    to: &OsStr,
    existing: IfExists,
) -> Result<(), Errno> {
    if existing == IfExists::Replace {
        return fs::renameat(from_dir, from, to_dir, to);
    }
    match fs::renameat_with(from_dir, from, to_dir, to, RenameFlags::NOREPLACE) {
        // Network filesystems do not support the flag. INVAL is also the result of moving a directory into itself.
        Err(Errno::INVAL | Errno::NOSYS) => rename_to_free_name(from_dir, from, to_dir, to),
        result => result,
    }
}

/// The same without support by the kernel: creating the target name fails if it is in use.
fn rename_to_free_name(from_dir: &OwnedFd, from: &OsStr, to_dir: &OwnedFd, to: &OsStr) -> Result<(), Errno> {
    let stat = fs::statat(from_dir, from, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        fs::linkat(from_dir, from, to_dir, to, AtFlags::empty())?;
        return fs::unlinkat(from_dir, from, AtFlags::empty());
    }
    fs::mkdirat(to_dir, to, Mode::from_raw_mode(0o700))?;
    fs::renameat(from_dir, from, to_dir, to).inspect_err(|_| {
        // Remove the placeholder; this fails if another process has put entries into it.
        let _ = fs::unlinkat(to_dir, to, AtFlags::REMOVEDIR);
    })
}

fn move_across(
    source: &EntryLocation,
    target: &EntryLocation,
    existing: IfExists,
) -> Result<(), FileErrorCause> {
    // An early check before gigabytes are copied. The rename below decides.
    if existing == IfExists::Refuse
        && fs::statat(&target.dir, &target.name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    {
        return Err(FileErrorCause::AlreadyExists);
    }
    // A hidden directory reserves a name beside the target and is the only thing to clean up.
    let (hidden, ()) = with_hidden_name(|name| fs::mkdirat(&target.dir, name, Mode::from_raw_mode(0o700)))?;
    let moved =
        open_child(&target.dir, &hidden, DIRECTORY).map_err(FileErrorCause::from).and_then(|beside| {
            copy::copy(&source.dir, &source.name, &beside, &target.name)?;
            Ok(rename_into_place(&beside, &target.name, &target.dir, &target.name, existing)?)
        });
    if let Err(errno) = remove_tree(target.dir.as_fd(), &hidden) {
        tracing::warn!(%errno, name = ?hidden, "could not remove the temporary directory of a move");
    }
    moved?;
    match fs::unlinkat(&source.dir, &source.name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => Ok(remove_tree(source.dir.as_fd(), &source.name)?),
        result => Ok(result?),
    }
}

/// Whether `dir` is the directory `ancestor` or below it; walks up to the top.
fn is_inside(dir: &OwnedFd, ancestor: FileId) -> bool {
    let Ok(mut current) = dir.try_clone() else { return false };
    let Ok(mut current_id) = FileId::read(&current) else { return false };
    loop {
        if current_id == ancestor {
            return true;
        }
        let Ok(above) = open_child(&current, OsStr::new(".."), DIRECTORY) else { return false };
        let Ok(above_id) = FileId::read(&above) else { return false };
        if above_id == current_id {
            return false;
        }
        (current, current_id) = (above, above_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_existing_target_stays_without_support_by_the_kernel() {
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
        assert!(!at("dir-moved/below/x").exists(), "the placeholder was removed");
    }
}
