//! Opening a file for reading.

use std::fs::File;

use rustix::fs::OFlags;

use crate::{
    EntryMetadata, EntryType, Error, FileErrorCause, FileOperation, RootDirectory, RootedPath,
    error::ErrorContext,
};

impl RootDirectory {
    /// Opens the regular file at `path`. The [`EntryMetadata`] belongs to the opened file.
    ///
    /// # Errors
    /// [`FileErrorCause::IsADirectory`], and [`FileErrorCause::NotAFile`] for pipes, sockets and devices, which could block or never end.
    pub fn open_read(&self, path: &RootedPath) -> Result<(File, EntryMetadata), Error> {
        self.open_regular(&self.absolute(path)).at(FileOperation::Read, path)
    }

    fn open_regular(&self, path: &RootedPath) -> Result<(File, EntryMetadata), FileErrorCause> {
        // Check the kind before opening: a reader would wake the writer of a pipe, and opening a device may have side effects.
        require_regular(&EntryMetadata::read(self.open_at(path, OFlags::PATH)?)?)?;
        // The path may refer to another file by now, so open without blocking, and check the opened file again.
        let file = self.open_at(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        let stat = EntryMetadata::read(&file)?;
        require_regular(&stat)?;
        Ok((File::from(file), stat))
    }
}

fn require_regular(stat: &EntryMetadata) -> Result<(), FileErrorCause> {
    match stat.kind {
        EntryType::File => Ok(()),
        EntryType::Directory => Err(FileErrorCause::IsADirectory),
        EntryType::Symlink | EntryType::Other => Err(FileErrorCause::NotAFile),
    }
}
