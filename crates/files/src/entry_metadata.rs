//! Metadata of a file.

use std::{
    os::{fd::AsFd, unix::ffi::OsStringExt},
    time::{Duration, SystemTime},
};

use rustix::{
    fs::{self, FileType, OFlags},
    io::Errno,
};

use crate::{Error, FileOperation, RootDirectory, RootedPath, error::ErrorContext};

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryType {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A pipe, socket or device: it can be listed, removed and renamed, but neither read nor written.
    Other,
}

/// How to treat a symbolic link at the end of a path. Links on the way are always followed, inside the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkHandling {
    /// Follow the link to its target.
    Follow,
    /// Use the link itself.
    Keep,
}

/// The metadata of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryMetadata {
    /// The kind of file.
    pub kind: EntryType,
    /// The size in bytes; of a link, the length of its target's path.
    pub size: u64,
    /// When the content last changed.
    pub modified: SystemTime,
    /// Permission bits, `0o7777`.
    pub mode: u32,
    /// The inode number.
    pub inode: u64,
    /// The device number.
    pub device: u64,
    /// The target of a link, with replacement characters if it is not UTF-8; only with [`LinkHandling::Keep`].
    pub symlink_target: Option<String>,
}

impl EntryMetadata {
    /// A strong validator: it differs after every change of the time, the size or the file itself. It needs quotes in a header but
    /// no escaping.
    #[must_use]
    pub fn etag(&self) -> String {
        let since = self.modified.duration_since(SystemTime::UNIX_EPOCH);
        let nanos =
            since.map_or_else(|before| before.duration().as_nanos() | 1 << 127, |after| after.as_nanos());
        format!("{nanos:x}-{:x}-{:x}", self.size, self.inode)
    }

    pub(crate) fn read(file: impl AsFd) -> Result<Self, Errno> {
        Ok(Self::from(&fs::fstat(file)?))
    }
}

impl From<&fs::Stat> for EntryMetadata {
    fn from(stat: &fs::Stat) -> Self {
        let nanos = Duration::from_nanos(stat.st_mtime_nsec);
        let whole = Duration::from_secs(stat.st_mtime.unsigned_abs());
        let epoch = SystemTime::UNIX_EPOCH;
        // A filesystem may store any number; a time out of range is shown as the epoch.
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

impl From<FileType> for EntryType {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Symlink,
            _ => Self::Other,
        }
    }
}

impl RootDirectory {
    /// The metadata of the file at `path`.
    ///
    /// # Errors
    /// [`FileErrorCause::NotFound`](crate::FileErrorCause::NotFound), also for a link without a target when it is followed.
    pub fn stat(&self, path: &RootedPath, links: LinkHandling) -> Result<EntryMetadata, Error> {
        let flags = match links {
            LinkHandling::Follow => OFlags::PATH,
            LinkHandling::Keep => OFlags::PATH | OFlags::NOFOLLOW,
        };
        let file = self.open_at(&self.absolute(path), flags).at(FileOperation::Inspect, path)?;
        let mut stat = EntryMetadata::read(&file).at(FileOperation::Inspect, path)?;
        if stat.kind == EntryType::Symlink {
            let target = fs::readlinkat(&file, "", Vec::new()).at(FileOperation::Inspect, path)?;
            let target = std::ffi::OsString::from_vec(target.into_bytes());
            stat.symlink_target = Some(target.to_string_lossy().into_owned());
        }
        Ok(stat)
    }
}
