//! Which directories are watched.

use std::{
    ffi::OsStr,
    os::{fd::AsRawFd, unix::ffi::OsStrExt},
};

use rustix::fs::inotify::{WatchFlags, add_watch, remove_watch};

use super::{Reach, Seen, WATCHED_MAX, Watch};
use crate::{Cause, DEPTH_MAX, Directory, ENTRIES_MAX, FileKind, Links, Root, VirtualPath};

/// How much of what is in a new directory is told one by one.
const FOUND_MAX: usize = 1000;

/// What is told of a directory.
const TOLD: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::EXCL_UNLINK)
    .union(WatchFlags::ONLYDIR);

impl Watch {
    pub(super) fn add(&mut self, directory: &Directory, path: Vec<u8>) -> Result<i32, Cause> {
        if self.watched.len() >= WATCHED_MAX {
            return Err(Cause::TooDeep);
        }
        let handle = format!("/proc/self/fd/{}", directory.handle()?.as_raw_fd());
        let wd = add_watch(&*self.inotify, handle, TOLD)?;
        self.watched.insert(wd, path);
        Ok(wd)
    }

    /// Watches what is below a directory, and tells of all that is there.
    pub(super) fn add_below(
        &mut self,
        root: &Root,
        top: Directory,
        path: Vec<u8>,
        tell: &mut dyn FnMut(Vec<u8>),
    ) -> Result<(), Cause> {
        let mut pending = vec![(path, 0)];
        let mut held = Some(top);
        while let Some((path, depth)) = pending.pop() {
            let mut directory = match held.take() {
                Some(top) => top,
                None => {
                    match root.directory(&at(&path)?, Links::Keep) {
                        Ok(directory) => directory,
                        // It is gone, or cannot be looked into: nothing can be told of it.
                        Err(_) => continue,
                    }
                }
            };
            self.add(&directory, path.clone())?;
            let (names, more) = directory.names(ENTRIES_MAX).map_err(|error| error.cause)?;
            if more || depth >= DEPTH_MAX {
                return Err(Cause::TooDeep);
            }
            for name in names {
                let below = [path.as_slice(), b"/", name.name.as_bytes()].concat();
                tell(below.clone());
                if name.kind == FileKind::Directory {
                    pending.push((below, depth + 1));
                }
            }
        }
        Ok(())
    }

    /// Watches a directory that is new, and tells of what came into it before it was watched.
    pub(super) fn add_new(
        &mut self,
        root: &Root,
        path: Vec<u8>,
        links: Links,
        seen: &mut Vec<Seen>,
    ) -> Result<(), Cause> {
        // It may be gone already.
        let Ok(directory) = root.directory(&at(&path)?, links) else { return Ok(()) };
        let mut found = Vec::new();
        let mut find = |path| {
            if found.len() <= FOUND_MAX {
                found.push(path);
            }
        };
        match self.add_below(root, directory, path, &mut find) {
            // More than can be watched, by our measure or by the kernel's.
            Err(Cause::TooDeep | Cause::NoSpace) => seen.push(Seen::Missed),
            Err(Cause::NotFound | Cause::NotADirectory) | Ok(()) => {}
            Err(cause) => return Err(cause),
        }
        if found.len() > FOUND_MAX {
            seen.push(Seen::Missed);
            return Ok(());
        }
        for path in found {
            self.tell(Seen::Created, path, seen);
        }
        Ok(())
    }

    /// Watches again what is there now, after something was not told.
    pub(super) fn look_again(&mut self, root: &Root) -> Result<(), Cause> {
        self.moved = None;
        let Some(path) = self.watched.get(&self.top).cloned() else { return Ok(()) };
        if self.reach == Reach::Tree {
            // Only the top may have been asked for through a link.
            self.add_new(root, path, Links::Follow, &mut Vec::new())?;
        }
        Ok(())
    }

    pub(super) fn rename_below(&mut self, from: &[u8], to: &[u8]) {
        for path in self.watched.values_mut() {
            if let Some(rest) = below(path, from) {
                *path = [to, rest].concat();
            }
        }
    }

    pub(super) fn forget_below(&mut self, gone: &[u8]) {
        let inotify = &self.inotify;
        self.watched.retain(|wd, path| {
            let is_gone = below(path, gone).is_some();
            if is_gone {
                // The kernel may have forgotten it before.
                let _ = remove_watch(&**inotify, *wd);
            }
            !is_gone
        });
    }
}

/// A path seen from the root, without a slash at the end.
fn at(path: &[u8]) -> Result<VirtualPath, Cause> {
    if path.is_empty() {
        return Ok(VirtualPath::root());
    }
    VirtualPath::parse(OsStr::from_bytes(path)).map_err(|error| error.cause)
}

/// The rest of a path that is `top` or below it.
fn below<'a>(path: &'a [u8], top: &[u8]) -> Option<&'a [u8]> {
    path.strip_prefix(top).filter(|rest| rest.is_empty() || rest.starts_with(b"/"))
}
