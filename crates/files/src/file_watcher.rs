//! Watches files and directories for changes, with inotify.
//!
//! Directories are registered through handles that were opened inside the tree, never by name. So a link that is swapped in
//! cannot make the kernel report changes of other places.

mod watched_directories;

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    mem::MaybeUninit,
    os::{
        fd::OwnedFd,
        unix::ffi::{OsStrExt, OsStringExt},
    },
    sync::Arc,
};

use rustix::{
    fs::inotify::{CreateFlags, ReadFlags, Reader, init},
    io::Errno,
};

use crate::{
    EntryType, Error, FileErrorCause, FileOperation, LinkHandling, RootDirectory, RootedPath,
    error::ErrorContext, temp_file,
};

/// The maximum number of directories of one watch; the kernel's default limit per user is not much higher.
pub const WATCHED_MAX: usize = 8192;

/// The size of one read of events, and the number of reads before other tasks get their turn.
const BUFFER_BYTES: usize = 16 * 1024;
const READS_MAX: usize = 16;

/// The extent of a watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchScope {
    /// The entries of the directory.
    Directory,
    /// Everything below the directory.
    Tree,
}

/// A change of a path in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// It was created.
    Created(OsString),
    /// Its content changed.
    Modified(OsString),
    /// It was deleted.
    Deleted(OsString),
    /// It was renamed.
    Renamed {
        /// The old path.
        from: OsString,
        /// The new path.
        to: OsString,
    },
    /// Events were lost: anything may have changed.
    Missed,
    /// The watched path itself is gone. No changes follow.
    Over,
}

/// A watch. It reports every change after its creation, or that changes were missed.
#[derive(Debug)]
pub struct FileWatcher {
    inotify: Arc<OwnedFd>,
    /// The watched directories by their watch descriptor; absolute paths without a slash at the end.
    watched: HashMap<i32, Vec<u8>>,
    top_descriptor: i32,
    scope: WatchScope,
    /// When a file is watched: its name, the only one to report.
    only_name: Option<OsString>,
    /// A rename whose second half has not arrived yet.
    pending_rename: Option<PendingRename>,
}

/// The first half of a rename.
#[derive(Debug)]
struct PendingRename {
    cookie: u32,
    from: Vec<u8>,
    is_directory: bool,
}

/// An inotify event of a watched directory.
struct DirectoryEvent {
    descriptor: i32,
    flags: ReadFlags,
    /// Connects the two halves of a rename.
    cookie: u32,
    /// The entry of the directory that the event is about.
    name: Option<OsString>,
}

impl RootDirectory {
    /// Watches the file or directory at `path`. A file is watched by name through its directory, as it may be replaced.
    ///
    /// # Errors
    /// [`FileErrorCause::NotAFile`] for pipes, sockets and devices; [`FileErrorCause::TooDeep`] if there are more directories than
    /// [`WATCHED_MAX`].
    pub fn watch(&self, path: &RootedPath, scope: WatchScope) -> Result<FileWatcher, Error> {
        self.start_watch(path, scope).at(FileOperation::Watch, path)
    }

    fn start_watch(&self, path: &RootedPath, scope: WatchScope) -> Result<FileWatcher, FileErrorCause> {
        let kind = self.stat(path, LinkHandling::Follow).map_err(|error| error.cause)?.kind;
        let absolute = self.absolute(path);
        let (path, only, scope) = match (kind, absolute.split()) {
            (EntryType::Directory, _) => (absolute, None, scope),
            (EntryType::File, Some((parent, name))) => (parent, Some(name.to_owned()), WatchScope::Directory),
            _ => return Err(FileErrorCause::NotAFile),
        };
        let inotify = Arc::new(init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?);
        let mut watch = FileWatcher {
            inotify,
            watched: HashMap::new(),
            top_descriptor: 0,
            scope,
            only_name: only,
            pending_rename: None,
        };
        let top = self.directory(&path, LinkHandling::Follow).map_err(|error| error.cause)?;
        let path = path.as_os_str().as_bytes();
        let path = path.strip_suffix(b"/").unwrap_or(path).to_vec();
        watch.top_descriptor = watch.add(&top, path.clone())?;
        if scope == WatchScope::Tree {
            watch.add_below(self, top, path, &mut |_| {})?;
        }
        Ok(watch)
    }
}

impl FileWatcher {
    /// The descriptor that becomes readable when there are changes.
    #[must_use]
    pub fn handle(&self) -> Arc<OwnedFd> {
        self.inotify.clone()
    }

    /// The changes so far, without waiting, and whether there may be more.
    ///
    /// # Errors
    /// Errors of reading events or of watching new directories.
    pub fn read(&mut self, root: &RootDirectory) -> Result<(Vec<FileChange>, bool), Error> {
        let mut changes = Vec::new();
        let more = self.drain(root, &mut changes).at(FileOperation::Watch, &RootedPath::root())?;
        Ok((changes, more))
    }

    fn drain(&mut self, root: &RootDirectory, changes: &mut Vec<FileChange>) -> Result<bool, FileErrorCause> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let inotify = self.inotify.clone();
        for _ in 0..READS_MAX {
            let mut reader = Reader::new(&*inotify, &mut buffer);
            loop {
                match reader.next() {
                    Ok(event) => {
                        let name =
                            event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()).to_owned());
                        let event = DirectoryEvent {
                            descriptor: event.wd(),
                            flags: event.events(),
                            cookie: event.cookie(),
                            name,
                        };
                        self.on_event(root, event, changes)?;
                    }
                    Err(Errno::AGAIN) => {
                        self.end_pending_rename(changes);
                        return Ok(false);
                    }
                    Err(Errno::INTR) => {}
                    Err(errno) => return Err(errno.into()),
                }
                if reader.is_buffer_empty() {
                    break;
                }
            }
        }
        Ok(true)
    }

    fn on_event(
        &mut self,
        root: &RootDirectory,
        event: DirectoryEvent,
        changes: &mut Vec<FileChange>,
    ) -> Result<(), FileErrorCause> {
        let DirectoryEvent { descriptor, flags, cookie, name } = event;
        if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            changes.push(FileChange::Missed);
            return self.rescan(root);
        }
        if descriptor == self.top_descriptor
            && flags.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::IGNORED)
        {
            self.end_pending_rename(changes);
            changes.push(FileChange::Over);
            return Ok(());
        }
        if flags.contains(ReadFlags::IGNORED) {
            self.watched.remove(&descriptor);
            return Ok(());
        }
        let (Some(dir), Some(name)) = (self.watched.get(&descriptor), name) else { return Ok(()) };
        let path = [dir.as_slice(), b"/", name.as_bytes()].concat();
        let is_directory = flags.contains(ReadFlags::ISDIR);
        // The two halves of a rename are adjacent events with the same cookie. If another event follows the first half, the
        // file was moved to a directory that is not watched.
        let renamed = self
            .pending_rename
            .take_if(|first| flags.contains(ReadFlags::MOVED_TO) && first.cookie == cookie);
        self.end_pending_rename(changes);
        if flags.contains(ReadFlags::MOVED_FROM) {
            self.pending_rename = Some(PendingRename { cookie, from: path, is_directory });
            return Ok(());
        }
        match renamed {
            // A file that this crate has written atomically.
            Some(first) if temp_file::is_hidden(&first.from) => {
                self.report(FileChange::Modified, path, changes)
            }
            Some(first) => {
                if first.is_directory {
                    self.rename_below(&first.from, &path);
                }
                self.report_rename(first.from, path, changes);
            }
            None if flags.contains(ReadFlags::DELETE) => self.report(FileChange::Deleted, path, changes),
            None if flags.contains(ReadFlags::MODIFY) => self.report(FileChange::Modified, path, changes),
            None => {
                self.report(FileChange::Created, path.clone(), changes);
                if is_directory && self.scope == WatchScope::Tree {
                    self.add_new(root, path, LinkHandling::Keep, changes)?;
                }
            }
        }
        Ok(())
    }

    /// Reports a pending rename as a deletion: its second half did not arrive, so the target is not watched.
    fn end_pending_rename(&mut self, changes: &mut Vec<FileChange>) {
        let Some(PendingRename { from, is_directory, .. }) = self.pending_rename.take() else { return };
        if is_directory {
            self.forget_below(&from);
        }
        self.report(FileChange::Deleted, from, changes);
    }

    fn report(&self, kind: fn(OsString) -> FileChange, path: Vec<u8>, changes: &mut Vec<FileChange>) {
        if self.is_reported(&path) {
            changes.push(kind(OsString::from_vec(path)));
        }
    }

    fn report_rename(&self, from: Vec<u8>, to: Vec<u8>, changes: &mut Vec<FileChange>) {
        match (self.is_reported(&from), self.is_reported(&to)) {
            (true, true) => {
                changes
                    .push(FileChange::Renamed { from: OsString::from_vec(from), to: OsString::from_vec(to) });
            }
            (true, false) => self.report(FileChange::Deleted, from, changes),
            // It may have replaced an existing file.
            (false, _) => self.report(FileChange::Modified, to, changes),
        }
    }

    fn is_reported(&self, path: &[u8]) -> bool {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        !temp_file::is_hidden(path) && self.only_name.as_ref().is_none_or(|only| only.as_bytes() == name)
    }
}
