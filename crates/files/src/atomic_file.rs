//! Atomic writes: readers see the old file or the new one, never a part.

use std::{
    ffi::OsString,
    fs::File,
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, Write},
    os::{fd::OwnedFd, unix::ffi::OsStringExt},
};

use rustix::{
    fs::{self, Access, AtFlags, Gid, Mode, OFlags, Uid},
    io::Errno,
};

use crate::{
    AppendFile, EntryMetadata, EntryType, Error, FileErrorCause, FileOperation, ParentDirectories,
    RootDirectory, RootedPath,
    error::ErrorContext,
    root_directory::{DIRECTORY, EntryLocation},
    temp_file::TempFile,
};

/// The maximum number of links followed at the end of a path, as in the kernel.
const LINKS_MAX: usize = 40;

/// How to proceed when the name is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IfExists {
    /// Replace the file atomically.
    #[default]
    Replace,
    /// Fail with [`FileErrorCause::AlreadyExists`].
    Refuse,
}

/// The failures that a finished write survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// A crash of this process.
    #[default]
    Cached,
    /// A power cut: content and name are on disk. It takes milliseconds.
    Synced,
}

/// Options for creating a file.
#[derive(Debug, Clone, Copy, Default)]
pub struct CreateOptions {
    /// Missing directories on the way. Directories that are created stay, even if the file is not committed.
    pub parents: ParentDirectories,
    /// A file that already exists.
    pub existing: IfExists,
    /// The durability that [`AtomicFile::commit`] guarantees.
    pub durability: Durability,
    /// Permission bits (`0o777`). By default those of the replaced file, or those that the umask leaves.
    pub mode: Option<u32>,
}

/// A file that is being written. It is invisible until [`AtomicFile::commit`]; dropping it discards it.
#[derive(Debug)]
pub struct AtomicFile {
    temp: TempFile,
    dir: OwnedFd,
    name: OsString,
    path: RootedPath,
    options: CreateOptions,
}

/// The result of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteOutcome {
    /// The file after the commit.
    pub stat: EntryMetadata,
    /// Whether there was no file of that name before.
    pub created: bool,
}

impl RootDirectory {
    /// Starts a new version of the file at `path`. If the path ends in a link, the target is replaced and the link stays, as
    /// editors do. Hard links keep the old version.
    ///
    /// # Errors
    /// [`FileErrorCause::IsADirectory`], [`FileErrorCause::NotAFile`], and [`FileErrorCause::PermissionDenied`] for a read-only file, although the
    /// permissions of its directory would allow to replace it.
    pub fn create(&self, path: &RootedPath, options: CreateOptions) -> Result<AtomicFile, Error> {
        let absolute = self.absolute(path);
        let place = self.locate_for_write(&absolute, options).at(FileOperation::Write, path)?;
        AtomicFile::new(place, path, options).at(FileOperation::Write, path)
    }

    fn locate_for_write(
        &self,
        path: &RootedPath,
        options: CreateOptions,
    ) -> Result<EntryLocation, FileErrorCause> {
        if path.names_directory() || path.split().is_none() {
            return Err(FileErrorCause::IsADirectory);
        }
        let mut path = path.clone();
        for _ in 0..LINKS_MAX {
            let place = match self.locate(&path) {
                Err(FileErrorCause::NotFound) if options.parents == ParentDirectories::Create => {
                    if let Some((parent, _)) = path.split() {
                        self.mkdir_all(&parent)?;
                    }
                    self.locate(&path)?
                }
                place => place?,
            };
            // The target is resolved from the root's handle again, so a link cannot lead out of the tree.
            match fs::readlinkat(&place.dir, &place.name, Vec::new()) {
                Ok(target) => {
                    path = self.link_target(&place.parent, &OsString::from_vec(target.into_bytes()))?;
                }
                Err(Errno::INVAL | Errno::NOENT) => return Ok(place),
                Err(errno) => return Err(errno.into()),
            }
            if path.names_directory() || path.split().is_none() {
                self.open_at(&path, DIRECTORY)?;
                return Err(FileErrorCause::IsADirectory);
            }
        }
        Err(FileErrorCause::TooManyLinks)
    }
}

impl AtomicFile {
    fn new(place: EntryLocation, path: &RootedPath, options: CreateOptions) -> Result<Self, FileErrorCause> {
        let EntryLocation { dir, name, .. } = place;
        let old = match fs::statat(&dir, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(errno.into()),
        };
        if let Some(old) = &old {
            match EntryMetadata::from(old).kind {
                EntryType::File => {}
                EntryType::Directory => return Err(FileErrorCause::IsADirectory),
                EntryType::Symlink | EntryType::Other => return Err(FileErrorCause::NotAFile),
            }
            if options.existing == IfExists::Refuse {
                // An early check before the content is sent. The rename in `commit` decides.
                return Err(FileErrorCause::AlreadyExists);
            }
            fs::accessat(&dir, &name, Access::WRITE_OK, AtFlags::EACCESS)?;
        }
        let temp = TempFile::new(dir.try_clone()?)?;
        if let Some(old) = &old {
            // Keep the owner. Only root can give files away; for other users the file belongs to them anyway.
            let _ = fs::fchown(&temp.file, Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)));
        }
        if let Some(mode) = options.mode.or(old.map(|old| old.st_mode)) {
            fs::fchmod(&temp.file, Mode::from_raw_mode(mode & 0o777))?;
        }
        Ok(Self { temp, dir, name, path: path.clone(), options })
    }

    /// Checks that the disk has `len` free bytes, so that a file that does not fit fails at once.
    ///
    /// Nothing is reserved: the length is a claim of a client, and many clients that claim much and send nothing would fill
    /// the disk. A file for which the space is gone later fails when it is written.
    ///
    /// # Errors
    /// [`FileErrorCause::NoSpace`].
    pub fn check_space(&self, len: u64) -> Result<(), Error> {
        // A filesystem that cannot tell lets the file be tried.
        let Ok(disk) = fs::fstatvfs(&self.temp.file) else { return Ok(()) };
        if disk.f_bavail.saturating_mul(disk.f_frsize) < len {
            return Err(Errno::NOSPC).at(FileOperation::Write, &self.path);
        }
        Ok(())
    }

    /// A number that identifies the target file, whichever path leads to it. Writers that first check the current content use
    /// it to take turns.
    ///
    /// # Errors
    /// Errors of reading the directory's metadata.
    pub fn target_id(&self) -> Result<u64, Error> {
        let dir = fs::fstat(&self.dir).at(FileOperation::Write, &self.path)?;
        let mut hasher = DefaultHasher::new();
        (dir.st_dev, dir.st_ino, &self.name).hash(&mut hasher);
        Ok(hasher.finish())
    }

    /// The file that currently has the name, if there is one.
    ///
    /// # Errors
    /// [`FileErrorCause::NotAFile`] if it is not a regular file.
    pub fn current(&self) -> Result<Option<(File, EntryMetadata)>, Error> {
        self.open_current(OFlags::RDONLY)
    }

    /// As [`AtomicFile::current`], opened for appending instead of replacing it.
    ///
    /// # Errors
    /// [`FileErrorCause::NotAFile`] if it is not a regular file.
    pub fn current_to_append(&self) -> Result<Option<AppendFile>, Error> {
        let current = self.open_current(OFlags::RDWR | OFlags::APPEND)?;
        Ok(current.map(|(file, stat)| AppendFile { file, stat, path: self.path.clone() }))
    }

    fn open_current(&self, access: OFlags) -> Result<Option<(File, EntryMetadata)>, Error> {
        let flags = access | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match fs::openat(&self.dir, &self.name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            // NOFOLLOW applies to the last name only: a link has taken the name since `create`.
            Err(Errno::LOOP) => return Err(FileErrorCause::NotAFile).at(FileOperation::Write, &self.path),
            Err(errno) => return Err(errno).at(FileOperation::Write, &self.path),
        };
        let stat = EntryMetadata::read(&file).at(FileOperation::Write, &self.path)?;
        match stat.kind {
            EntryType::File => Ok(Some((file, stat))),
            _ => Err(FileErrorCause::NotAFile).at(FileOperation::Write, &self.path),
        }
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    /// Mainly [`FileErrorCause::NoSpace`].
    pub fn write_all(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.temp.file.write_all(bytes).at(FileOperation::Write, &self.path)
    }

    /// Gives the file its name, atomically.
    ///
    /// # Errors
    /// [`FileErrorCause::AlreadyExists`] with [`IfExists::Refuse`], even if the other file was created while this one was written. After
    /// any error the old file is unchanged.
    pub fn commit(self) -> Result<WriteOutcome, Error> {
        let path = self.path.clone();
        self.finish().at(FileOperation::Write, &path)
    }

    fn finish(self) -> Result<WriteOutcome, FileErrorCause> {
        let Self { temp, dir, name, options, .. } = self;
        if options.durability == Durability::Synced {
            fs::fsync(&temp.file)?;
        }
        let file = temp.file.try_clone()?;
        let created = temp.publish(&name, options.existing)?;
        if options.durability == Durability::Synced {
            TempFile::sync_directory(&dir)?;
        }
        Ok(WriteOutcome { stat: EntryMetadata::read(&file)?, created })
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
