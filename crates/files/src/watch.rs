//! What changes below a directory.
//!
//! The kernel is told what to watch by handles that were opened inside the tree, never by names, so a link that is swapped in
//! does not make it tell of other places.

mod watched;

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

use crate::{Cause, Error, FileKind, Links, Root, VirtualPath, error::At, temp};

/// How many directories one watch has at most: what the kernel allows a user by default is more, but not by much.
pub const WATCHED_MAX: usize = 8192;

/// How much the kernel tells at once, and how often it is asked in a row before others have a turn.
const BUFFER_BYTES: usize = 16 * 1024;
const READS_MAX: usize = 16;

/// How much is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// What is in the directory.
    Directory,
    /// What is below it.
    Tree,
}

/// What happened to a path, seen from the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// It is new.
    Created(OsString),
    /// It is different.
    Modified(OsString),
    /// It is gone.
    Deleted(OsString),
    /// It has another name.
    Renamed {
        /// The one before.
        from: OsString,
        /// The one now.
        to: OsString,
    },
    /// Something happened that was not told: everything may be different.
    Missed,
    /// What was watched is no longer there. Nothing follows.
    Over,
}

/// A watch. Nothing that happens after it was made is missed without being told.
#[derive(Debug)]
pub struct Watch {
    inotify: Arc<OwnedFd>,
    /// The directories, by the number that the kernel tells; seen from the root, without a slash at the end.
    watched: HashMap<i32, Vec<u8>>,
    top: i32,
    reach: Reach,
    /// The only name that is of interest, if it is a file that is watched.
    only: Option<OsString>,
    /// A rename of which the second half has not been told yet.
    moved: Option<Moved>,
}

#[derive(Debug)]
struct Moved {
    cookie: u32,
    from: Vec<u8>,
    directory: bool,
}

impl Root {
    /// Watches what is at `path`. A file is watched by its name, so that it may be replaced.
    ///
    /// # Errors
    /// [`Cause::NotAFile`] for pipes, sockets and devices; [`Cause::TooDeep`] if there are more directories than
    /// [`WATCHED_MAX`].
    pub fn watch(&self, path: &VirtualPath, reach: Reach) -> Result<Watch, Error> {
        self.start_watch(path, reach).at("watch", path)
    }

    fn start_watch(&self, path: &VirtualPath, reach: Reach) -> Result<Watch, Cause> {
        let kind = self.stat(path, Links::Follow).map_err(|error| error.cause)?.kind;
        let absolute = self.absolute(path);
        let (path, only, reach) = match (kind, absolute.split()) {
            (FileKind::Directory, _) => (absolute, None, reach),
            (FileKind::File, Some((parent, name))) => (parent, Some(name.to_owned()), Reach::Directory),
            _ => return Err(Cause::NotAFile),
        };
        let inotify = Arc::new(init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?);
        let mut watch = Watch { inotify, watched: HashMap::new(), top: 0, reach, only, moved: None };
        let top = self.directory(&path, Links::Follow).map_err(|error| error.cause)?;
        let path = path.as_os_str().as_bytes();
        let path = path.strip_suffix(b"/").unwrap_or(path).to_vec();
        watch.top = watch.add(&top, path.clone())?;
        if reach == Reach::Tree {
            watch.add_below(self, top, path, &mut |_| {})?;
        }
        Ok(watch)
    }
}

impl Watch {
    /// What can be read from when something happened.
    #[must_use]
    pub fn handle(&self) -> Arc<OwnedFd> {
        self.inotify.clone()
    }

    /// What happened, without waiting; and whether there may be more.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn read(&mut self, root: &Root) -> Result<(Vec<Seen>, bool), Error> {
        let mut seen = Vec::new();
        let more = self.drain(root, &mut seen).at("watch", &VirtualPath::root())?;
        Ok((seen, more))
    }

    fn drain(&mut self, root: &Root, seen: &mut Vec<Seen>) -> Result<bool, Cause> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let inotify = self.inotify.clone();
        for _ in 0..READS_MAX {
            let mut reader = Reader::new(&*inotify, &mut buffer);
            loop {
                match reader.next() {
                    Ok(event) => {
                        let name =
                            event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()).to_owned());
                        self.on_event(root, event.wd(), event.events(), event.cookie(), name, seen)?;
                    }
                    Err(Errno::AGAIN) => {
                        self.not_renamed(seen);
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
        root: &Root,
        wd: i32,
        events: ReadFlags,
        cookie: u32,
        name: Option<OsString>,
        seen: &mut Vec<Seen>,
    ) -> Result<(), Cause> {
        if events.contains(ReadFlags::QUEUE_OVERFLOW) {
            seen.push(Seen::Missed);
            return self.look_again(root);
        }
        if wd == self.top
            && events.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::IGNORED)
        {
            self.not_renamed(seen);
            seen.push(Seen::Over);
            return Ok(());
        }
        if events.contains(ReadFlags::IGNORED) {
            self.watched.remove(&wd);
            return Ok(());
        }
        let (Some(dir), Some(name)) = (self.watched.get(&wd), name) else { return Ok(()) };
        let path = [dir.as_slice(), b"/", name.as_bytes()].concat();
        let directory = events.contains(ReadFlags::ISDIR);
        let was_moved =
            self.moved.take_if(|moved| events.contains(ReadFlags::MOVED_TO) && moved.cookie == cookie);
        self.not_renamed(seen);
        if events.contains(ReadFlags::MOVED_FROM) {
            self.moved = Some(Moved { cookie, from: path, directory });
            return Ok(());
        }
        match was_moved {
            // Ours, to write a file in one step.
            Some(moved) if temp::is_hidden(&moved.from) => self.tell(Seen::Modified, path, seen),
            Some(moved) => {
                if moved.directory {
                    self.rename_below(&moved.from, &path);
                }
                self.tell_renamed(moved.from, path, seen);
            }
            None if events.contains(ReadFlags::DELETE) => self.tell(Seen::Deleted, path, seen),
            None if events.contains(ReadFlags::MODIFY) => self.tell(Seen::Modified, path, seen),
            None => {
                self.tell(Seen::Created, path.clone(), seen);
                if directory && self.reach == Reach::Tree {
                    self.add_new(root, path, Links::Keep, seen)?;
                }
            }
        }
        Ok(())
    }

    /// What was moved, and did not come to anywhere that is watched, is gone.
    fn not_renamed(&mut self, seen: &mut Vec<Seen>) {
        let Some(Moved { from, directory, .. }) = self.moved.take() else { return };
        if directory {
            self.forget_below(&from);
        }
        self.tell(Seen::Deleted, from, seen);
    }

    fn tell(&self, kind: fn(OsString) -> Seen, path: Vec<u8>, seen: &mut Vec<Seen>) {
        if self.is_of_interest(&path) {
            seen.push(kind(OsString::from_vec(path)));
        }
    }

    fn tell_renamed(&self, from: Vec<u8>, to: Vec<u8>, seen: &mut Vec<Seen>) {
        match (self.is_of_interest(&from), self.is_of_interest(&to)) {
            (true, true) => {
                seen.push(Seen::Renamed { from: OsString::from_vec(from), to: OsString::from_vec(to) });
            }
            (true, false) => self.tell(Seen::Deleted, from, seen),
            // It may have taken the place of another.
            (false, _) => self.tell(Seen::Modified, to, seen),
        }
    }

    fn is_of_interest(&self, path: &[u8]) -> bool {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        !temp::is_hidden(path) && self.only.as_ref().is_none_or(|only| only.as_bytes() == name)
    }
}
