//! The set of watched directories.

use std::{
    ffi::OsStr,
    os::{fd::AsRawFd, unix::ffi::OsStrExt},
};

use rustix::fs::inotify::{WatchFlags, add_watch, remove_watch};

use super::{FileChange, FileWatcher, WATCHED_MAX, WatchScope};
use crate::{
    DEPTH_MAX, ENTRIES_MAX, EntryType, FileErrorCause, LinkHandling, OpenDirectory, RootDirectory, RootedPath,
};

/// The maximum number of entries of a new directory that are reported individually.
const REPORTED_ENTRIES_MAX: usize = 1000;

/// The events that the kernel reports for a directory.
const WATCHED_EVENTS: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::EXCL_UNLINK)
    .union(WatchFlags::ONLYDIR);

impl FileWatcher {
    pub(super) fn add(&mut self, directory: &OpenDirectory, path: Vec<u8>) -> Result<i32, FileErrorCause> {
        if self.watched.len() >= WATCHED_MAX {
            return Err(FileErrorCause::TooDeep);
        }
        // inotify takes a path. This one refers to the open directory, whatever its name resolves to now.
        let handle = format!("/proc/self/fd/{}", directory.handle()?.as_raw_fd());
        let wd = add_watch(&*self.inotify, handle, WATCHED_EVENTS)?;
        self.watched.insert(wd, path);
        Ok(wd)
    }

    /// Watches all directories below `top` and passes the path of each entry to `report`.
    pub(super) fn add_below(
        &mut self,
        root: &RootDirectory,
        top: OpenDirectory,
        path: Vec<u8>,
        report: &mut dyn FnMut(Vec<u8>),
    ) -> Result<(), FileErrorCause> {
        let mut pending = vec![(path, 0)];
        let mut held = Some(top);
        while let Some((path, depth)) = pending.pop() {
            let mut directory = match held.take() {
                Some(top) => top,
                None => {
                    match root.directory(&at(&path)?, LinkHandling::Keep) {
                        Ok(directory) => directory,
                        // It was removed, or is not readable: nothing to report.
                        Err(_) => continue,
                    }
                }
            };
            self.add(&directory, path.clone())?;
            let (names, more) = directory.names(ENTRIES_MAX).map_err(|error| error.cause)?;
            if more || depth >= DEPTH_MAX {
                return Err(FileErrorCause::TooDeep);
            }
            for name in names {
                let below = [path.as_slice(), b"/", name.name.as_bytes()].concat();
                report(below.clone());
                if name.kind == EntryType::Directory {
                    pending.push((below, depth + 1));
                }
            }
        }
        Ok(())
    }

    /// Watches a new directory, and reports the entries that were created before it was watched.
    pub(super) fn add_new(
        &mut self,
        root: &RootDirectory,
        path: Vec<u8>,
        links: LinkHandling,
        changes: &mut Vec<FileChange>,
    ) -> Result<(), FileErrorCause> {
        // It may have been removed already.
        let Ok(directory) = root.directory(&at(&path)?, links) else { return Ok(()) };
        let mut found = Vec::new();
        let mut find = |path| {
            if found.len() <= REPORTED_ENTRIES_MAX {
                found.push(path);
            }
        };
        match self.add_below(root, directory, path, &mut find) {
            // More directories than our limit or the kernel's.
            Err(FileErrorCause::TooDeep | FileErrorCause::NoSpace) => changes.push(FileChange::Missed),
            Err(FileErrorCause::NotFound | FileErrorCause::NotADirectory) | Ok(()) => {}
            Err(cause) => return Err(cause),
        }
        if found.len() > REPORTED_ENTRIES_MAX {
            changes.push(FileChange::Missed);
            return Ok(());
        }
        for path in found {
            self.report(FileChange::Created, path, changes);
        }
        Ok(())
    }

    /// Watches all directories that exist now, after events were lost.
    pub(super) fn rescan(&mut self, root: &RootDirectory) -> Result<(), FileErrorCause> {
        self.pending_rename = None;
        let Some(path) = self.watched.get(&self.top_descriptor).cloned() else { return Ok(()) };
        if self.scope == WatchScope::Tree {
            // Only the top directory may be reached through a link.
            self.add_new(root, path, LinkHandling::Follow, &mut Vec::new())?;
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
                // Fails if the kernel has already removed the watch.
                let _ = remove_watch(&**inotify, *wd);
            }
            !is_gone
        });
    }
}

/// The virtual path for an absolute path without a slash at the end.
fn at(path: &[u8]) -> Result<RootedPath, FileErrorCause> {
    if path.is_empty() {
        return Ok(RootedPath::root());
    }
    RootedPath::parse(OsStr::from_bytes(path)).map_err(|error| error.cause)
}

/// The part of `path` after `top`, if it is `top` or below it.
fn below<'a>(path: &'a [u8], top: &[u8]) -> Option<&'a [u8]> {
    path.strip_prefix(top).filter(|rest| rest.is_empty() || rest.starts_with(b"/"))
}
