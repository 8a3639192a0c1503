//! A tree held by one handle, and how a path becomes a handle inside it.

use std::{
    ffi::{OsStr, OsString},
    os::{
        fd::{AsFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::Path,
};

use rustix::{
    fs::{self, CWD, Mode, OFlags, ResolveFlags},
    io::Errno,
};

use crate::{Cause, Error, VirtualPath, error::At};

/// The flags of a handle that names a directory without opening it for reading: what `…at` calls start from.
pub(crate) const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

/// openat2 answers EAGAIN when somebody renamed while it walked a `..`, because it can no longer be sure that it is
/// inside. Trying again is what the manual asks for; so many in a row only an attacker achieves.
const RETRIES_MAX: usize = 1000;

/// A directory tree that operations cannot leave. Cheap to share behind an `Arc`; all methods take `&self`.
#[derive(Debug)]
pub struct Root {
    handle: OwnedFd,
    base: VirtualPath,
    resolver: Resolver,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Resolver {
    /// The kernel keeps every step inside: what leads out ends at the root.
    Confined,
    /// The kernel keeps every step inside: what leads out is refused.
    Beneath,
    /// Plain `openat` from `/`: only for the whole filesystem, where there is no outside.
    Plain,
}

/// A name in a directory that is held open: what creating, removing and renaming act on.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) dir: OwnedFd,
    pub(crate) name: OsString,
    /// Where `dir` is, for what a link in it says next.
    pub(crate) parent: VirtualPath,
}

impl Root {
    /// The tree below `dir`. Links on the way to `dir` itself are followed: it is the operator's word, not a guest's.
    ///
    /// # Errors
    /// [`Cause::Unsupported`] where the kernel cannot confine (before Linux 5.6, or forbidden by seccomp), and
    /// whatever opening `dir` says.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let shown = VirtualPath::parse(dir)?;
        let handle =
            fs::openat(CWD, dir, DIRECTORY | OFlags::CLOEXEC, Mode::empty()).at("open the tree", &shown)?;
        let root = Self { handle, base: VirtualPath::root(), resolver: Resolver::Confined };
        match root.probe().at("open the tree", &shown)? {
            Resolver::Confined | Resolver::Beneath => Ok(root),
            Resolver::Plain => Err(Error::new("open the tree", &shown, Cause::Unsupported)),
        }
    }

    /// The same, where what leads out is refused as such: `..` above the root and links to elsewhere are
    /// [`Cause::Outside`]. A link that starts with `/` always leads out.
    ///
    /// # Errors
    /// As [`Root::open`].
    pub fn open_beneath(dir: &Path) -> Result<Self, Error> {
        Ok(Self { resolver: Resolver::Beneath, ..Self::open(dir)? })
    }

    /// The whole filesystem, as the user that runs this process sees it.
    ///
    /// # Errors
    /// Whatever opening `/` says.
    pub fn whole() -> Result<Self, Error> {
        let slash = VirtualPath::root();
        let handle =
            fs::openat(CWD, "/", DIRECTORY | OFlags::CLOEXEC, Mode::empty()).at("open the tree", &slash)?;
        let root = Self { handle, base: slash.clone(), resolver: Resolver::Confined };
        let resolver = root.probe().at("open the tree", &slash)?;
        Ok(Self { resolver, ..root })
    }

    /// The same tree, with relative paths starting at `base` (itself seen from the root) in place of `/`.
    #[must_use]
    pub fn with_base(mut self, base: &VirtualPath) -> Self {
        self.base = base.seen_from(&VirtualPath::root());
        self
    }

    /// `path` seen from the root, with the base applied: what [`Entry::path`](crate::Entry) starts with.
    #[must_use]
    pub fn absolute(&self, path: &VirtualPath) -> VirtualPath {
        path.seen_from(&self.base)
    }

    /// What this system can do.
    fn probe(&self) -> Result<Resolver, Errno> {
        resolver(self.open_at(&VirtualPath::root(), DIRECTORY).map(drop))
    }

    /// Opens a path seen from the root. Never creates: creating happens by name in a [`Place`].
    pub(crate) fn open_at(&self, path: &VirtualPath, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::CLOEXEC;
        let (path, resolve) = match self.resolver {
            Resolver::Plain => return fs::openat(&self.handle, path.as_os_str(), flags, Mode::empty()),
            Resolver::Confined => (path.as_os_str(), ResolveFlags::IN_ROOT),
            Resolver::Beneath => (path.below_root(), ResolveFlags::BENEATH),
        };
        let resolve = resolve | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..RETRIES_MAX {
            match fs::openat2(&self.handle, path, flags, Mode::empty(), resolve) {
                Err(Errno::AGAIN | Errno::INTR) => std::thread::yield_now(),
                result => return result,
            }
        }
        Err(Errno::AGAIN)
    }

    /// Where a link in the directory `parent` leads.
    pub(crate) fn target(&self, parent: &VirtualPath, target: &OsStr) -> Result<VirtualPath, Cause> {
        if self.resolver == Resolver::Beneath && target.as_bytes().starts_with(b"/") {
            return Err(Cause::Outside);
        }
        Ok(self.absolute(&parent.join(target)))
    }

    /// The directory and the name that `path` (seen from the root) ends in; a link at the end is not followed.
    pub(crate) fn place(&self, path: &VirtualPath) -> Result<Place, Cause> {
        let (parent, name) =
            path.split().ok_or(Cause::InvalidPath { reason: "it names no entry of a directory" })?;
        Ok(Place { dir: self.open_at(&parent, DIRECTORY)?, name: name.to_owned(), parent })
    }
}

fn resolver(probe: Result<(), Errno>) -> Result<Resolver, Errno> {
    match probe {
        Ok(()) => Ok(Resolver::Confined),
        // An old kernel, or a seccomp filter that predates openat2: it will never work.
        Err(Errno::NOSYS | Errno::PERM) => Ok(Resolver::Plain),
        Err(errno) => Err(errno),
    }
}

/// One step down from a held directory, never through a link.
pub(crate) fn child(dir: impl AsFd, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    fs::openat(dir, name, flags | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Links;

    #[test]
    fn only_a_missing_openat2_means_that_the_system_cannot_confine() {
        for (errno, expected) in [
            (Errno::NOSYS, Ok(Resolver::Plain)),
            (Errno::PERM, Ok(Resolver::Plain)),
            (Errno::MFILE, Err(Errno::MFILE)),
        ] {
            assert_eq!(resolver(Err(errno)), expected);
        }
    }

    #[test]
    fn without_openat2_the_whole_filesystem_is_still_there() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "a").unwrap();
        let whole = Root::whole().unwrap();
        let plain =
            Root { resolver: Resolver::Plain, ..whole }.with_base(&VirtualPath::parse(dir.path()).unwrap());
        let stat = plain.stat(&VirtualPath::parse("a").unwrap(), Links::Follow).unwrap();
        assert_eq!(stat.size, 1);
    }
}
