//! Writing a file so that readers see the old one or the new one, never a part.

use std::{
    ffi::OsString,
    fs::File,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Write},
    os::{fd::OwnedFd, unix::ffi::OsStringExt},
};

use rustix::{
    fs::{self, Access, AtFlags, FallocateFlags, Gid, Mode, OFlags, Uid},
    io::Errno,
};

use crate::{
    AppendFile, Cause, Error, FileKind, Parents, Root, Stat, VirtualPath,
    error::At,
    root::{DIRECTORY, Place},
    temp::Temp,
};

/// The most links followed at the end of a path, as many as the kernel follows.
const LINKS_MAX: usize = 40;

/// What to do when the name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Existing {
    /// Take its place in one step.
    #[default]
    Replace,
    /// Leave it and fail with [`Cause::AlreadyExists`].
    Refuse,
}

/// What a finished write has survived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The end of this process.
    #[default]
    Cached,
    /// The end of the machine: content and name are on disk. Costs milliseconds.
    Synced,
}

/// How to create a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct CreateOptions {
    /// Directories missing on the way. Those that are made stay, also when the file is not committed.
    pub parents: Parents,
    /// A file that is there already.
    pub existing: Existing,
    /// What [`AtomicFile::commit`] waits for.
    pub durability: Durability,
    /// Permission bits (`0o777`); by default those of the file that is replaced, else what the umask leaves.
    pub mode: Option<u32>,
}

/// A file being written. Nobody sees it before [`AtomicFile::commit`]; dropped without, it never was.
#[derive(Debug)]
pub struct AtomicFile {
    temp: Temp,
    dir: OwnedFd,
    name: OsString,
    path: VirtualPath,
    options: CreateOptions,
}

/// What a commit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The file as it is now.
    pub stat: Stat,
    /// Whether the name is new.
    pub created: bool,
}

impl Root {
    /// Starts a new version of the file at `path`. A link at the end is written through, as an editor would: its
    /// target is replaced and the link stays. Hard links to the old version keep the old version.
    ///
    /// # Errors
    /// [`Cause::IsADirectory`], [`Cause::NotAFile`], and [`Cause::PermissionDenied`] for a file that may not be
    /// written, though its directory would allow replacing it.
    pub fn create(&self, path: &VirtualPath, options: CreateOptions) -> Result<AtomicFile, Error> {
        let absolute = self.absolute(path);
        let place = self.place_to_write(&absolute, options).at("write", path)?;
        AtomicFile::new(place, path, options).at("write", path)
    }

    fn place_to_write(&self, path: &VirtualPath, options: CreateOptions) -> Result<Place, Cause> {
        if path.names_a_directory() || path.split().is_none() {
            return Err(Cause::IsADirectory);
        }
        let mut path = path.clone();
        for _ in 0..LINKS_MAX {
            let place = match self.place(&path) {
                Err(Cause::NotFound) if options.parents == Parents::Create => {
                    if let Some((parent, _)) = path.split() {
                        self.mkdir_all(&parent)?;
                    }
                    self.place(&path)?
                }
                place => place?,
            };
            // Each target starts again at the root handle, so a link that lies leads nowhere new.
            match fs::readlinkat(&place.dir, &place.name, Vec::new()) {
                Ok(target) => {
                    path = self.target(&place.parent, &OsString::from_vec(target.into_bytes()))?;
                }
                Err(Errno::INVAL | Errno::NOENT) => return Ok(place),
                Err(errno) => return Err(errno.into()),
            }
            if path.names_a_directory() || path.split().is_none() {
                self.open_at(&path, DIRECTORY)?;
                return Err(Cause::IsADirectory);
            }
        }
        Err(Cause::TooManyLinks)
    }
}

impl AtomicFile {
    fn new(place: Place, path: &VirtualPath, options: CreateOptions) -> Result<Self, Cause> {
        let Place { dir, name, .. } = place;
        let old = match fs::statat(&dir, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(errno.into()),
        };
        if let Some(old) = &old {
            match Stat::from(old).kind {
                FileKind::File => {}
                FileKind::Directory => return Err(Cause::IsADirectory),
                FileKind::Symlink | FileKind::Other => return Err(Cause::NotAFile),
            }
            if options.existing == Existing::Refuse {
                return Err(Cause::AlreadyExists); // early, before the content is sent; `commit` is what decides
            }
            fs::accessat(&dir, &name, Access::WRITE_OK, AtFlags::EACCESS)?;
        }
        let temp = Temp::new(dir.try_clone()?)?;
        if let Some(old) = &old {
            // Only root may give files away; for anybody else the file was theirs, or becomes it.
            let _ = fs::fchown(&temp.file, Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)));
        }
        if let Some(mode) = options.mode.or(old.map(|old| old.st_mode)) {
            fs::fchmod(&temp.file, Mode::from_raw_mode(mode & 0o777))?;
        }
        Ok(Self { temp, dir, name, path: path.clone(), options })
    }

    /// Sets `len` bytes of disk aside, so that a file that cannot fit fails at once. A hint: filesystems that cannot
    /// do it are silent.
    ///
    /// # Errors
    /// [`Cause::NoSpace`].
    pub fn preallocate(&mut self, len: u64) -> Result<(), Error> {
        match fs::fallocate(&self.temp.file, FallocateFlags::KEEP_SIZE, 0, len) {
            Err(errno @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(errno).at("write", &self.path),
            _ => Ok(()),
        }
    }

    /// The same number for all that are to take this place, by whichever way: what writers that look first take turns by.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn place(&self) -> Result<u64, Error> {
        let dir = fs::fstat(&self.dir).at("write", &self.path)?;
        let mut hasher = DefaultHasher::new();
        (dir.st_dev, dir.st_ino, &self.name).hash(&mut hasher);
        Ok(hasher.finish())
    }

    /// The file that is in the place now, if there is one.
    ///
    /// # Errors
    /// [`Cause::NotAFile`] if something else is there.
    pub fn current(&self) -> Result<Option<(File, Stat)>, Error> {
        self.open_current(OFlags::RDONLY)
    }

    /// The same, to be written after what is in it, in place of this one.
    ///
    /// # Errors
    /// [`Cause::NotAFile`] if something else is there.
    pub fn current_to_append(&self) -> Result<Option<AppendFile>, Error> {
        let current = self.open_current(OFlags::RDWR | OFlags::APPEND)?;
        Ok(current.map(|(file, stat)| AppendFile { file, stat, path: self.path.clone() }))
    }

    fn open_current(&self, access: OFlags) -> Result<Option<(File, Stat)>, Error> {
        let flags = access | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match fs::openat(&self.dir, &self.name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            // Only of the last name, so there is a link now where none was.
            Err(Errno::LOOP) => return Err(Cause::NotAFile).at("write", &self.path),
            Err(errno) => return Err(errno).at("write", &self.path),
        };
        let stat = Stat::of(&file).at("write", &self.path)?;
        match stat.kind {
            FileKind::File => Ok(Some((file, stat))),
            _ => Err(Cause::NotAFile).at("write", &self.path),
        }
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    /// [`Cause::NoSpace`] above all.
    pub fn write_all(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.temp.file.write_all(bytes).at("write", &self.path)
    }

    /// Puts the file in its place, in one step.
    ///
    /// # Errors
    /// [`Cause::AlreadyExists`] with [`Existing::Refuse`], also when the other file came while this one was written.
    /// After any error the old file is as it was.
    pub fn commit(self) -> Result<Written, Error> {
        let path = self.path.clone();
        self.finish().at("write", &path)
    }

    fn finish(self) -> Result<Written, Cause> {
        let Self { temp, dir, name, options, .. } = self;
        if options.durability == Durability::Synced {
            fs::fsync(&temp.file)?;
        }
        let file = temp.file.try_clone()?;
        let created = temp.publish(&name, options.existing)?;
        if options.durability == Durability::Synced {
            Temp::sync_directory(&dir)?;
        }
        Ok(Written { stat: Stat::of(&file)?, created })
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.temp.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
