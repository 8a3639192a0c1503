//! A file of entries with disk space allocated beyond its end.
//!
//! Another process may take every free block of the disk at any moment, so free space promises nothing. Allocated blocks do:
//! `fallocate` with `KEEP_SIZE` gives the file blocks behind its last byte. Readers do not see them, writes into them need no
//! free block, and they stay when the process ends.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::Path,
};

use rustix::{
    fs::{FallocateFlags, fallocate},
    io::Errno,
};

/// The space behind the last entry that ordinary requests may not use. It holds the `ENDS_MAX` entries
/// that can still come when a request is refused for lack of space, 8 KiB each, and as much again as a third of that for
/// stops and refusals.
pub(super) const RESERVE_BYTES: u64 = 4 << 20;

/// The space that is allocated at once beyond the reserve: one system call for some thousand entries.
const STEP_BYTES: u64 = 1 << 20;

/// A file that is written at its end, with space allocated behind it.
#[derive(Debug)]
pub(super) struct ReservedFile {
    file: File,
    /// The bytes of whole entries. The file may be longer after a failed write: the bytes behind are overwritten.
    length: u64,
    /// The end of the allocated space; `None` if the file system cannot allocate space ahead.
    allocated: Option<u64>,
}

impl ReservedFile {
    /// Opens a file or creates it. It has no reserve until [`restore`](Self::restore).
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        // Not `append`: a failed write is repeated at the same place.
        let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        let length = file.metadata()?.len();
        Ok(Self { file, length, allocated: Some(length) })
    }

    pub(super) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Cuts the file off at `length`. That frees the space behind it.
    pub(super) fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        self.length = length;
        self.allocated = self.allocated.map(|_| length);
        Ok(())
    }

    /// The space behind the last entry that is certainly ours.
    pub(super) fn reserve(&self) -> u64 {
        self.allocated.map_or(0, |allocated| allocated.saturating_sub(self.length))
    }

    /// Whether the file system can allocate space ahead.
    pub(super) fn can_reserve(&self) -> bool {
        self.allocated.is_some()
    }

    /// Finds out how much of the reserve of an earlier process is left, and allocates the rest if there is free space.
    pub(super) fn find_reserve(&mut self) {
        let parts = (1..=8).rev().map(|part| RESERVE_BYTES / 8 * part);
        // Allocating what is allocated already succeeds on a full disk too.
        let _ = parts.into_iter().find(|bytes| self.allocate(*bytes).is_ok());
    }

    /// Allocates the reserve again if a part of it was used.
    ///
    /// # Errors
    /// If there is not enough free space.
    pub(super) fn restore(&mut self) -> io::Result<()> {
        if !self.can_reserve() || self.reserve() >= RESERVE_BYTES {
            return Ok(());
        }
        self.allocate(RESERVE_BYTES + STEP_BYTES)
    }

    fn allocate(&mut self, bytes: u64) -> io::Result<()> {
        match fallocate(&self.file, FallocateFlags::KEEP_SIZE, self.length, bytes) {
            Ok(()) => self.allocated = Some(self.length + bytes),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.allocated = None,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Writes whole entries behind the last one.
    ///
    /// # Errors
    /// If it fails. A part may be in the file then: the caller must write the same bytes again, and no others.
    pub(super) fn append(&mut self, entries: &[u8]) -> io::Result<()> {
        self.file.write_all_at(entries, self.length)?;
        self.length += entries.len() as u64;
        Ok(())
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Frees the space behind the last entry, when nothing more will be written.
    pub(super) fn release(&self) -> io::Result<()> {
        self.file.set_len(self.length)
    }
}
