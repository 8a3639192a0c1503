//! Small text files that only their owner can read, replaced as a whole, also on a full disk.
//!
//! Replacing a file by a new one needs free blocks, and another process may take all of them at any moment. So such a file has
//! two *slots* of the same size, `<name>` and `<name>.spare`, padded with newlines to at least twice their content. A change is
//! written into the blocks of the spare slot and flushed to the disk; then the two names are exchanged in one step. A crash at
//! any point leaves the old content or the new. Only content that outgrows the slots needs free space: a removal never does.
//!
//! Readers must not hold the file open while it is written twice: its blocks are used again.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    io::Errno,
};
use tempfile::NamedTempFile;

/// The sizes of slots are multiples of this.
const SLOT_STEP_BYTES: usize = 16 << 10;

/// The byte that fills the rest of a slot. Readers ignore it at the end of JSON and of most text.
const PADDING: u8 = b'\n';

/// Replaces the content of a file, or creates it.
///
/// # Errors
/// If it cannot be written. The old content is still there then.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let spare = spare(path);
    let slot_bytes = (2 * content.len()).next_multiple_of(SLOT_STEP_BYTES).max(SLOT_STEP_BYTES);
    if slot_length(&spare)? < content.len() {
        create_slot(directory, slot_bytes)?.persist(&spare)?;
    }
    // The current slot becomes the spare one. If it is too small for that its successor is created now: later a removal may
    // find a full disk, and must fit.
    let successor = (slot_length(path)? < content.len()).then(|| create_slot(directory, slot_bytes));
    let successor = successor.transpose()?;
    fill(&spare, content)?.sync_data()?;
    let is_exchanged = exchange(&spare, path)?;
    match successor {
        Some(successor) => drop(successor.persist(&spare)?),
        None if is_exchanged => {}
        // The old slot is gone. The next change creates another, if it can.
        None => drop(create_slot(directory, slot_bytes)?.persist(&spare)?),
    }
    // The names are durable once the directory is.
    File::open(directory)?.sync_all()?;
    // The old content may hold secrets that were just removed.
    fill(&spare, b"").map(drop)
}

/// Gives an existing file its slots if it lacks them, as files of earlier versions do.
///
/// # Errors
/// If that fails, for example on a full disk. The file is as it was then.
pub fn prepare(path: &Path) -> io::Result<()> {
    let content = match fs::read(path) {
        Ok(content) => content,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let content = content.trim_ascii_end();
    if slot_length(&spare(path))? >= content.len() && content.len() < slot_length(path)? {
        return Ok(());
    }
    write(path, content)
}

fn spare(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".spare");
    name.into()
}

/// The size of a slot; 0 if it does not exist.
fn slot_length(path: &Path) -> io::Result<usize> {
    match fs::symlink_metadata(path) {
        // Anything else is replaced.
        Ok(metadata) if !metadata.is_file() => Ok(0),
        Ok(metadata) => Ok(usize::try_from(metadata.len()).unwrap_or(usize::MAX)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

/// A new slot, with all its blocks allocated and mode 0600. It is deleted if it is dropped.
fn create_slot(directory: &Path, bytes: usize) -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(&vec![PADDING; bytes])?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Overwrites a slot with `content`. Its length stays, so this needs no free block.
fn fill(slot: &Path, content: &[u8]) -> io::Result<File> {
    let nofollow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let file = OpenOptions::new().write(true).custom_flags(nofollow).open(slot)?;
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    let mut padded = content.to_vec();
    padded.resize(length.max(content.len()), PADDING);
    file.write_all_at(&padded, 0)?;
    Ok(file)
}

/// Exchanges the two names, or renames `spare` to `path` if there is no `path` or the file system cannot exchange names.
/// Returns whether `spare` still exists.
fn exchange(spare: &Path, path: &Path) -> io::Result<bool> {
    match renameat_with(CWD, spare, CWD, path, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            fs::rename(spare, path).map(|()| false)
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
