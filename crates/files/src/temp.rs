//! A file that nobody sees until it is whole.

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

use crate::{Existing, rename::rename_into_place};

/// How often another name is tried when a random one of 64 bits is taken: once is already a sign of something else.
const NAMES_MAX: usize = 8;

/// How the names begin that exist for a moment.
const HIDDEN: &str = ".tombolo-";

/// Whether a path ends in a name that exists for a moment.
pub(crate) fn is_hidden(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    name.starts_with(HIDDEN.as_bytes())
}

/// A file being written, without a name where the filesystem can (`O_TMPFILE`: it is gone with its last handle, even
/// when the process is killed), else with a hidden one that is removed on drop.
#[derive(Debug)]
pub(crate) struct Temp {
    pub(crate) file: File,
    dir: OwnedFd,
    name: Option<OsString>,
}

impl Temp {
    pub(crate) fn new(dir: OwnedFd) -> Result<Self, Errno> {
        match unnamed(&dir) {
            Ok(file) => Ok(Self { file: file.into(), dir, name: None }),
            // What kernels and filesystems without O_TMPFILE answer.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT | Errno::NOSYS) => {
                Self::named(dir)
            }
            Err(errno) => Err(errno),
        }
    }

    fn named(dir: OwnedFd) -> Result<Self, Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (name, file) =
            with_hidden_name(|name| fs::openat(&dir, name, flags, Mode::from_raw_mode(0o666)))?;
        Ok(Self { file: file.into(), dir, name: Some(name) })
    }

    /// Gives the file its name, in one step for everybody who looks. Returns whether the name is new.
    pub(crate) fn publish(mut self, name: &OsStr, existing: Existing) -> Result<bool, Errno> {
        if self.name.is_none() {
            match link_handle(&self.file, &self.dir, name) {
                Ok(()) => return Ok(true),
                Err(Errno::EXIST) if existing == Existing::Replace => {}
                Err(errno) => return Err(errno),
            }
            // A link cannot replace. Between these two calls, and only there, a hidden name exists.
            self.name = Some(with_hidden_name(|hidden| link_handle(&self.file, &self.dir, hidden))?.0);
        }
        let Some(hidden) = &self.name else { return Ok(false) };
        let new = matches!(fs::statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT));
        rename_into_place(&self.dir, hidden, &self.dir, name, existing)?;
        self.name = None;
        Ok(new)
    }

    /// Makes the name itself survive a crash of the machine.
    pub(crate) fn sync_directory(dir: &OwnedFd) -> Result<(), Errno> {
        // Handles that only name a directory cannot be synced.
        fs::fsync(fs::openat(dir, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = fs::unlinkat(&self.dir, name, AtFlags::empty()); // nothing left to tell it to
        }
    }
}

fn unnamed(dir: &OwnedFd) -> Result<OwnedFd, Errno> {
    // Without /proc an unnamed file might not get a name in the end (see `link_handle`); better to know now.
    fs::accessat(CWD, "/proc/self/fd", Access::EXISTS, AtFlags::empty())?;
    fs::openat(dir, ".", OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, Mode::from_raw_mode(0o666))
}

fn link_handle(file: &File, dir: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    // Without privileges this works from Linux 6.10 on; before, /proc is the way the manual gives.
    match fs::linkat(file, "", dir, name, AtFlags::EMPTY_PATH) {
        Err(Errno::NOENT | Errno::PERM | Errno::INVAL) => {
            let handle = format!("/proc/self/fd/{}", file.as_raw_fd());
            fs::linkat(CWD, handle, dir, name, AtFlags::SYMLINK_FOLLOW)
        }
        result => result,
    }
}

/// Runs `make` with a hidden name that is free.
pub(crate) fn with_hidden_name<T>(
    mut make: impl FnMut(&OsStr) -> Result<T, Errno>,
) -> Result<(OsString, T), Errno> {
    for _ in 0..NAMES_MAX {
        // Each `RandomState` has another secret key, so the name cannot be guessed and taken in advance.
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
    fn a_named_file_takes_its_place_or_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "old").unwrap();
        drop(Temp::named(handle(&dir)).unwrap());
        assert_eq!(names(&dir), ["a"]);

        let mut temp = Temp::named(handle(&dir)).unwrap();
        temp.file.write_all(b"new").unwrap();
        assert!(!temp.publish("a".as_ref(), Existing::Replace).unwrap());
        assert_eq!(std::fs::read_to_string(dir.path().join("a")).unwrap(), "new");

        let temp = Temp::named(handle(&dir)).unwrap();
        assert_eq!(temp.publish("a".as_ref(), Existing::Refuse), Err(Errno::EXIST));
        assert_eq!(names(&dir), ["a"]);
    }

    #[test]
    fn an_unnamed_file_that_cannot_take_its_place_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("a")).unwrap();
        let temp = Temp::new(handle(&dir)).unwrap();
        assert!(temp.name.is_none(), "the filesystem of the tests has O_TMPFILE");
        assert_eq!(temp.publish("a".as_ref(), Existing::Replace), Err(Errno::ISDIR));
        assert_eq!(names(&dir), ["a"]);
    }
}
