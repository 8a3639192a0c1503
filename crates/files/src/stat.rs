//! What is at a path.

use std::{
    os::{fd::AsFd, unix::ffi::OsStringExt},
    time::{Duration, SystemTime},
};

use rustix::{
    fs::{self, FileType, OFlags},
    io::Errno,
};

use crate::{Error, Root, VirtualPath, error::At};

/// What kind of thing a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, itself.
    Symlink,
    /// A pipe, socket or device: listed, removed and renamed, but neither read nor written.
    Other,
}

/// What to do with a symbolic link at the end of the path. Links on the way are always followed, inside the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Look at what it points to.
    Follow,
    /// Look at the link itself.
    Keep,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// What kind of thing.
    pub kind: FileKind,
    /// Length in bytes; of a link, the length of its target's name.
    pub size: u64,
    /// When the content last changed.
    pub modified: SystemTime,
    /// Permission bits, `0o7777`.
    pub mode: u32,
    /// Number of the file on its device.
    pub inode: u64,
    /// The device it is on.
    pub device: u64,
    /// Where a link points, lossily; only with [`Links::Keep`].
    pub symlink_target: Option<String>,
}

impl Stat {
    /// A strong validator: another one after every change that moves the time, the size or the file itself. Safe in
    /// a header, not quoted.
    #[must_use]
    pub fn etag(&self) -> String {
        let since = self.modified.duration_since(SystemTime::UNIX_EPOCH);
        let nanos =
            since.map_or_else(|before| before.duration().as_nanos() | 1 << 127, |after| after.as_nanos());
        format!("{nanos:x}-{:x}-{:x}", self.size, self.inode)
    }

    pub(crate) fn of(file: impl AsFd) -> Result<Self, Errno> {
        Ok(Self::from(&fs::fstat(file)?))
    }
}

impl From<&fs::Stat> for Stat {
    fn from(stat: &fs::Stat) -> Self {
        let nanos = Duration::from_nanos(stat.st_mtime_nsec);
        let whole = Duration::from_secs(stat.st_mtime.unsigned_abs());
        let epoch = SystemTime::UNIX_EPOCH;
        // A filesystem may hold any number here; one that no clock reaches is shown as the epoch.
        let second = if stat.st_mtime < 0 { epoch.checked_sub(whole) } else { epoch.checked_add(whole) };
        Self {
            kind: FileType::from_raw_mode(stat.st_mode).into(),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: second.and_then(|second| second.checked_add(nanos)).unwrap_or(epoch),
            mode: stat.st_mode & 0o7777,
            inode: stat.st_ino,
            device: stat.st_dev,
            symlink_target: None,
        }
    }
}

impl From<FileType> for FileKind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Symlink,
            _ => Self::Other,
        }
    }
}

impl Root {
    /// What is at `path`.
    ///
    /// # Errors
    /// [`Cause::NotFound`](crate::Cause::NotFound) also for a link that points nowhere, when followed.
    pub fn stat(&self, path: &VirtualPath, links: Links) -> Result<Stat, Error> {
        let flags = match links {
            Links::Follow => OFlags::PATH,
            Links::Keep => OFlags::PATH | OFlags::NOFOLLOW,
        };
        let file = self.open_at(&self.absolute(path), flags).at("look at", path)?;
        let mut stat = Stat::of(&file).at("look at", path)?;
        if stat.kind == FileKind::Symlink {
            let target = fs::readlinkat(&file, "", Vec::new()).at("look at", path)?;
            let target = std::ffi::OsString::from_vec(target.into_bytes());
            stat.symlink_target = Some(target.to_string_lossy().into_owned());
        }
        Ok(stat)
    }
}
