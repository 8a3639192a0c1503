//! A directory tree that is held by one handle, and the resolution of paths inside it.

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

use crate::{Error, FileErrorCause, FileOperation, RootedPath, error::ErrorContext};

/// Flags for a handle that refers to a directory without opening it for reading, as the base of `…at` calls.
pub(crate) const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

/// The number of attempts to resolve a path. `openat2` returns EAGAIN when a directory was renamed while it resolved a `..`,
/// because it can no longer be sure that the result is inside the tree. The manual recommends to try again; only an
/// attacker causes this many failures in a row.
const RETRIES_MAX: usize = 1000;

/// A directory tree that operations cannot leave. Cheap to share behind an `Arc`; all methods take `&self`.
#[derive(Debug)]
pub struct RootDirectory {
    handle: OwnedFd,
    base: RootedPath,
    resolver: PathResolver,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathResolver {
    /// The kernel confines every step; a path that leads out ends at the root, as with `chroot`.
    Confined,
    /// The kernel confines every step; a path that leads out is an error.
    Beneath,
    /// Plain `openat` from `/`: only for the whole filesystem, which has no outside.
    Plain,
}

/// A name in an open directory: creating, removing and renaming work on such a pair.
#[derive(Debug)]
pub(crate) struct EntryLocation {
    pub(crate) dir: OwnedFd,
    pub(crate) name: OsString,
    /// The path of `dir`, to resolve the target of a link in it.
    pub(crate) parent: RootedPath,
}

impl RootDirectory {
    /// Opens the tree below `dir`. Links on the way to `dir` are followed: the operator chose it, not a client.
    ///
    /// # Errors
    /// [`FileErrorCause::Unsupported`] where the kernel cannot confine paths (before Linux 5.6, or forbidden by seccomp), and errors of
    /// opening `dir`.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        let shown = RootedPath::parse(dir)?;
        let handle = fs::openat(CWD, dir, DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .at(FileOperation::OpenTree, &shown)?;
        let root = Self { handle, base: RootedPath::root(), resolver: PathResolver::Confined };
        match root.probe_resolver().at(FileOperation::OpenTree, &shown)? {
            PathResolver::Confined | PathResolver::Beneath => Ok(root),
            PathResolver::Plain => {
                Err(Error::new(FileOperation::OpenTree, &shown, FileErrorCause::Unsupported))
            }
        }
    }

    /// As [`RootDirectory::open`], but paths that lead out are errors: `..` above the root and links to the outside are
    /// [`FileErrorCause::Outside`]. A link that starts with `/` always leads out.
    ///
    /// # Errors
    /// As [`RootDirectory::open`].
    pub fn open_beneath(dir: &Path) -> Result<Self, Error> {
        Ok(Self { resolver: PathResolver::Beneath, ..Self::open(dir)? })
    }

    /// Opens the whole filesystem, as the user of this process sees it.
    ///
    /// # Errors
    /// Errors of opening `/`.
    pub fn open_filesystem() -> Result<Self, Error> {
        let slash = RootedPath::root();
        let handle = fs::openat(CWD, "/", DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .at(FileOperation::OpenTree, &slash)?;
        let root = Self { handle, base: slash.clone(), resolver: PathResolver::Confined };
        let resolver = root.probe_resolver().at(FileOperation::OpenTree, &slash)?;
        Ok(Self { resolver, ..root })
    }

    /// Makes relative paths start at `base`, an absolute path in the tree, instead of `/`.
    #[must_use]
    pub fn with_base(mut self, base: &RootedPath) -> Self {
        self.base = base.resolve_from(&RootedPath::root());
        self
    }

    /// The absolute path in the tree, with the base applied: the form of [`FileEntry::path`](crate::FileEntry::path).
    #[must_use]
    pub fn absolute(&self, path: &RootedPath) -> RootedPath {
        path.resolve_from(&self.base)
    }

    /// Determines which resolution the system supports.
    fn probe_resolver(&self) -> Result<PathResolver, Errno> {
        resolver_for(self.open_at(&RootedPath::root(), DIRECTORY).map(drop))
    }

    /// Opens an absolute path in the tree. It never creates: files are created by name in a [`EntryLocation`].
    pub(crate) fn open_at(&self, path: &RootedPath, flags: OFlags) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::CLOEXEC;
        let (path, resolve) = match self.resolver {
            PathResolver::Plain => return fs::openat(&self.handle, path.as_os_str(), flags, Mode::empty()),
            PathResolver::Confined => (path.as_os_str(), ResolveFlags::IN_ROOT),
            PathResolver::Beneath => (path.relative_to_root(), ResolveFlags::BENEATH),
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

    /// Resolves the target of a link in the directory `parent`.
    pub(crate) fn link_target(
        &self,
        parent: &RootedPath,
        target: &OsStr,
    ) -> Result<RootedPath, FileErrorCause> {
        if self.resolver == PathResolver::Beneath && target.as_bytes().starts_with(b"/") {
            return Err(FileErrorCause::Outside);
        }
        Ok(self.absolute(&parent.join(target)))
    }

    /// The directory and the last name of the absolute path `path`; a link at the end is not followed.
    pub(crate) fn locate(&self, path: &RootedPath) -> Result<EntryLocation, FileErrorCause> {
        let (parent, name) =
            path.split().ok_or(FileErrorCause::InvalidPath { reason: "it names no entry of a directory" })?;
        Ok(EntryLocation { dir: self.open_at(&parent, DIRECTORY)?, name: name.to_owned(), parent })
    }
}

fn resolver_for(probe: Result<(), Errno>) -> Result<PathResolver, Errno> {
    match probe {
        Ok(()) => Ok(PathResolver::Confined),
        // An old kernel, or a seccomp filter that predates openat2: no call will ever succeed.
        Err(Errno::NOSYS | Errno::PERM) => Ok(PathResolver::Plain),
        Err(errno) => Err(errno),
    }
}

/// Opens a subdirectory of an open directory, never through a link.
pub(crate) fn open_child(dir: impl AsFd, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    fs::openat(dir, name, flags | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LinkHandling;

    #[test]
    fn only_a_missing_openat2_counts_as_unsupported() {
        for (errno, expected) in [
            (Errno::NOSYS, Ok(PathResolver::Plain)),
            (Errno::PERM, Ok(PathResolver::Plain)),
            (Errno::MFILE, Err(Errno::MFILE)),
        ] {
            assert_eq!(resolver_for(Err(errno)), expected);
        }
    }

    #[test]
    fn the_whole_filesystem_works_without_openat2() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "a").unwrap();
        let whole = RootDirectory::open_filesystem().unwrap();
        let plain = RootDirectory { resolver: PathResolver::Plain, ..whole }
            .with_base(&RootedPath::parse(dir.path()).unwrap());
        let stat = plain.stat(&RootedPath::parse("a").unwrap(), LinkHandling::Follow).unwrap();
        assert_eq!(stat.size, 1);
    }
}
