//! A temporary file that is invisible until it is complete.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    hash::{BuildHasher, RandomState},
    os::fd::{AsRawFd, OwnedFd},
};

use rustix::{
    fs::{self, Access, AtFlags, CWD, Mode, OFlags},
    io::Errno,
};

use crate::{IfExists, rename::rename_into_place};

/// The number of attempts to find a free name. Names have 64 random bits, so even one collision indicates another problem.
const NAMES_MAX: usize = 8;

/// The prefix of temporary names.
const HIDDEN: &str = ".tombolo-";

/// Whether a path ends in a temporary name.
pub(crate) fn is_hidden(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    name.starts_with(HIDDEN.as_bytes())
}

/// A file that is being written. Where the filesystem supports it (`O_TMPFILE`), it has no name and disappears with its last
/// handle, even when the process is killed. Elsewhere it has a hidden name that is removed on drop.
#[derive(Debug)]
pub(crate) struct TempFile {
    pub(crate) file: File,
    dir: OwnedFd,
    name: Option<OsString>,
}

impl TempFile {
    pub(crate) fn new(dir: OwnedFd) -> Result<Self, Errno> {
        match open_unnamed(&dir) {
            Ok(file) => Ok(Self { file: file.into(), dir, name: None }),
            // The errors of kernels and filesystems without O_TMPFILE.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT | Errno::NOSYS) => {
                Self::new_named(dir)
            }
            Err(errno) => Err(errno),
        }
    }

    fn new_named(dir: OwnedFd) -> Result<Self, Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (name, file) =
            with_hidden_name(|name| fs::openat(&dir, name, flags, Mode::from_raw_mode(0o666)))?;
        Ok(Self { file: file.into(), dir, name: Some(name) })
    }

    /// Gives the file its name, atomically for all readers. Returns whether the name is new.
    pub(crate) fn publish(mut self, name: &OsStr, existing: IfExists) -> Result<bool, Errno> {
        if self.name.is_none() {
            match link_handle(&self.file, &self.dir, name) {
                Ok(()) => return Ok(true),
                Err(Errno::EXIST) if existing == IfExists::Replace => {}
                Err(errno) => return Err(errno),
            }
            // `linkat` cannot replace an existing file. So link under a hidden name first, then rename over the target.
            self.name = Some(with_hidden_name(|hidden| link_handle(&self.file, &self.dir, hidden))?.0);
        }
        let Some(hidden) = &self.name else { return Ok(false) };
        let new = matches!(fs::statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT));
        rename_into_place(&self.dir, hidden, &self.dir, name, existing)?;
        self.name = None;
        Ok(new)
    }

    /// Makes the name durable.
    pub(crate) fn sync_directory(dir: &OwnedFd) -> Result<(), Errno> {
        // `O_PATH` handles cannot be synced.
        fs::fsync(fs::openat(dir, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // Best effort: there is no caller to report an error to.
            let _ = fs::unlinkat(&self.dir, name, AtFlags::empty());
        }
    }
}

fn open_unnamed(dir: &OwnedFd) -> Result<OwnedFd, Errno> {
    // Without /proc the file might not get a name in the end (see `link_handle`). Fail early, so that a named one is used.
    fs::accessat(CWD, "/proc/self/fd", Access::EXISTS, AtFlags::empty())?;
    fs::openat(dir, ".", OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, Mode::from_raw_mode(0o666))
}

fn link_handle(file: &File, dir: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    // Since Linux 6.10 this works without privileges. Before, the manual recommends the detour through /proc.
    match fs::linkat(file, "", dir, name, AtFlags::EMPTY_PATH) {
        Err(Errno::NOENT | Errno::PERM | Errno::INVAL) => {
            let handle = format!("/proc/self/fd/{}", file.as_raw_fd());
            fs::linkat(CWD, handle, dir, name, AtFlags::SYMLINK_FOLLOW)
        }
        result => result,
    }
}

/// Runs `make` with a free hidden name.
pub(crate) fn with_hidden_name<T>(
    mut make: impl FnMut(&OsStr) -> Result<T, Errno>,
) -> Result<(OsString, T), Errno> {
    for _ in 0..NAMES_MAX {
        // Each `RandomState` has another secret key, so an attacker cannot guess the name and create it first.
        let name =
            OsString::from(format!("{HIDDEN}{:016x}", RandomState::new().hash_one(std::process::id())));
        match make(&name) {
            Err(Errno::EXIST) => {}
            result => return Ok((name, result?)),
        }
    }
    Err(Errno::EXIST)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names(dir: &tempfile::TempDir) -> Vec<OsString> {
        std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    fn handle(dir: &tempfile::TempDir) -> OwnedFd {
        std::fs::File::open(dir.path()).unwrap().into()
    }

    #[test]
    fn a_named_temporary_file_takes_the_target_name_or_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "old").unwrap();
        drop(TempFile::new_named(handle(&dir)).unwrap());
        assert_eq!(names(&dir), ["a"]);

        let mut temp = TempFile::new_named(handle(&dir)).unwrap();
        temp.file.write_all(b"new").unwrap();
        assert!(!temp.publish("a".as_ref(), IfExists::Replace).unwrap());
        assert_eq!(std::fs::read_to_string(dir.path().join("a")).unwrap(), "new");

        let temp = TempFile::new_named(handle(&dir)).unwrap();
        assert_eq!(temp.publish("a".as_ref(), IfExists::Refuse), Err(Errno::EXIST));
        assert_eq!(names(&dir), ["a"]);
    }

    #[test]
    fn an_unnamed_file_that_cannot_take_the_target_name_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("a")).unwrap();
        let temp = TempFile::new(handle(&dir)).unwrap();
        assert!(temp.name.is_none(), "the filesystem of the tests has O_TMPFILE");
        assert_eq!(temp.publish("a".as_ref(), IfExists::Replace), Err(Errno::ISDIR));
        assert_eq!(names(&dir), ["a"]);
    }
}
