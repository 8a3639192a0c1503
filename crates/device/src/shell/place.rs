//! Where commands run: directories by their handles, so that nobody can put another in their place.

use std::{
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::Arc,
};

use protocol::relay::{RelayError, RelayErrorCode, RelayPath, RequestLimits, RootMode, VirtualPath};
use rustix::{
    fs::{CWD, Mode as FileMode, OFlags, ResolveFlags, openat, openat2},
    io::Errno,
};

use super::{allowed::Allowed, refusal, sandbox};
use crate::{Lent, Roots};

/// Somebody renames what is walked through; trying again is what the manual asks for.
const RETRIES_MAX: usize = 1000;

/// Why commands cannot be lent.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A directory cannot be opened.
    #[error("could not open `{}` for commands", directory.display())]
    Open {
        /// Where it is.
        directory: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A directory is to be seen where a sandbox has something of its own.
    #[error(
        "commands cannot use the virtual path `{0}`: the sandbox already uses it; set another `virtual_path`"
    )]
    Taken(VirtualPath),
}

/// The directories that are lent, each with a handle on it.
pub(super) struct Floors {
    roots: Arc<Roots>,
    /// In the same order.
    handles: Vec<Arc<OwnedFd>>,
}

/// A directory that a command sees.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub(super) handle: Arc<OwnedFd>,
    pub(super) at: VirtualPath,
    pub(super) mode: RootMode,
}

/// Where a command runs.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) at: VirtualPath,
    pub(super) handle: Arc<OwnedFd>,
    /// What may be done there.
    pub(super) mode: RootMode,
}

impl Floors {
    pub(super) fn open(roots: Arc<Roots>, sandboxed: bool) -> Result<Self, OpenError> {
        let open = |lent: &Lent| {
            if sandboxed && sandbox::has(&lent.root.virtual_path) {
                return Err(OpenError::Taken(lent.root.virtual_path.clone()));
            }
            let failed =
                |errno: Errno| OpenError::Open { directory: lent.directory.clone(), source: errno.into() };
            open(&lent.directory).map(Arc::new).map_err(failed)
        };
        let handles = roots.iter().map(open).collect::<Result<_, _>>()?;
        Ok(Self { roots, handles })
    }

    /// What a command sees under these terms.
    pub(super) fn bound(&self, terms: Option<&RequestLimits>) -> Vec<Bound> {
        let bound = |(lent, handle): (&Lent, &Arc<OwnedFd>)| {
            let (_, mode) = self.roots.find(&lent.root.root_id, terms).ok()?;
            Some(Bound { handle: handle.clone(), at: lent.root.virtual_path.clone(), mode })
        };
        self.roots.iter().zip(&self.handles).filter_map(bound).collect()
    }

    /// Where a command runs that asks for this, or the first place where it may.
    pub(super) fn place(
        &self,
        asked: Option<&VirtualPath>,
        terms: Option<&RequestLimits>,
        allowed: &Allowed<'_>,
    ) -> Result<Place, RelayError> {
        let Some(path) = asked else {
            let first = self.bound(terms).into_iter().find(|bound| allowed.cwd(&bound.at));
            let Bound { handle, at, mode } = first
                .ok_or_else(|| refusal::denied("commands need a root to run in, and none is granted"))?;
            return Ok(Place { at, handle, mode });
        };
        let (lent, below, mode) = self.roots.at(path, terms)?;
        if !allowed.cwd(path) {
            return Err(refusal::denied("commands may not run in this directory").with("path", path.as_str()));
        }
        let root = self.roots.iter().position(|root| root.root.root_id == lent.root.root_id);
        let handle = root.and_then(|root| self.handles.get(root));
        let handle = handle.ok_or_else(|| refusal::denied("there is no such root"))?;
        let handle = Arc::new(within(handle, &below).map_err(|errno| refused(errno, path))?);
        Ok(Place { at: path.clone(), handle, mode })
    }
}

fn open(directory: &Path) -> Result<OwnedFd, Errno> {
    openat(CWD, directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, FileMode::empty())
}

/// A directory below another, without ever leaving it.
fn within(root: &OwnedFd, path: &RelayPath) -> Result<OwnedFd, Errno> {
    let path = if path.as_str().is_empty() { "." } else { path.as_str() };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..RETRIES_MAX {
        match openat2(root, path, flags, FileMode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => std::thread::yield_now(),
            result => return result,
        }
    }
    Err(Errno::AGAIN)
}

fn refused(errno: Errno, path: &VirtualPath) -> RelayError {
    let (code, message) = match errno {
        Errno::NOENT => (RelayErrorCode::NotFound, "there is no such directory"),
        Errno::NOTDIR => (RelayErrorCode::NotFound, "the path is not a directory"),
        Errno::XDEV | Errno::LOOP => (RelayErrorCode::PermissionDenied, "the path leads outside its root"),
        Errno::ACCESS | Errno::PERM => (RelayErrorCode::PermissionDenied, "the directory cannot be entered"),
        _ => (RelayErrorCode::ProviderError, "the directory cannot be opened"),
    };
    RelayError::new(code, message).with("path", path.as_str())
}
