//! The one who writes the record: a thread of its own, as a disk may take its time.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Instant,
};

use files::private_file;
use parking_lot::Mutex;
use protocol::relay::audit::chain::{self, ChainHead};
use serde_json::Value;
use tracing::{error, warn};

use super::{
    Kept, LedgerError, SYNC_EVERY, Unwritten, pages,
    queue::{Next, Queue, Queued},
    reader::LINE_BYTES_MAX,
};

pub(super) struct Writer {
    directory: PathBuf,
    kept: Kept,
    file: File,
    /// What of the file is whole entries.
    length: u64,
    /// The number of its first entry; none if it has none.
    first: Option<u64>,
    head: Option<ChainHead>,
    /// When something was written that may not be on the disk.
    dirty: Option<Instant>,
}

impl Writer {
    pub(super) fn open(directory: &Path, kept: Kept) -> Result<Self, LedgerError> {
        let path = pages::current(directory);
        let failed = |source| LedgerError::Open { path: path.clone(), source };
        private_file::create_directory(directory).map_err(failed)?;
        let mut file = create(&path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let whole = whole(&mut file, length).map_err(failed)?;
        if whole < length {
            // The process, or the machine, was stopped in the middle of a line.
            warn!(bytes = length - whole, "truncated an incomplete entry at the end of the audit log");
            file.set_len(whole).map_err(failed)?;
        }
        let mut writer = Self {
            directory: directory.into(),
            kept,
            file,
            length: whole,
            first: None,
            head: None,
            dirty: None,
        };
        let last_old = || Ok(pages::old(directory).map_err(failed)?.pop());
        if whole > 0 {
            let first = first_line(&mut writer.file).map_err(failed)?;
            writer.first = first.and_then(|entry| entry.get("seq")?.as_u64());
            writer.head = last(&mut writer.file, whole).map_err(failed)?;
            if writer.head.is_none() {
                return Err(LedgerError::Broken { path });
            }
        } else if let Some(old) = last_old()? {
            let failed = |source| LedgerError::Open { path: old.clone(), source };
            let mut file = File::open(&old).map_err(failed)?;
            let length = file.metadata().map_err(failed)?.len();
            writer.head = last(&mut file, length).map_err(failed)?;
            if writer.head.is_none() {
                return Err(LedgerError::Broken { path: old });
            }
        }
        Ok(writer)
    }

    pub(super) fn head(&self) -> Option<ChainHead> {
        self.head.clone()
    }

    /// Writes until nobody can hand in more.
    pub(super) fn run(mut self, queue: &Queue, shown: &Mutex<Option<ChainHead>>, failing: &AtomicBool) {
        loop {
            let wait = self.dirty.map_or(SYNC_EVERY, |since| SYNC_EVERY.saturating_sub(since.elapsed()));
            match queue.next(wait) {
                Next::Batch(batch) => {
                    let written = self.write(&batch).inspect_err(|error| {
                        error!(%error, "could not write the audit log");
                    });
                    failing.store(written.is_err(), Relaxed);
                    shown.lock().clone_from(&self.head);
                    for tell in batch.into_iter().filter_map(|queued| queued.written) {
                        let _ = tell.send(written.as_ref().map_or(Err(Unwritten), |()| Ok(())));
                    }
                }
                Next::Nothing => {}
                Next::Over => break,
            }
            if self.dirty.is_some_and(|since| since.elapsed() >= SYNC_EVERY) {
                self.sync();
            }
        }
        self.sync();
    }

    fn write(&mut self, batch: &[Queued]) -> io::Result<()> {
        if self.length >= self.kept.file_bytes_max {
            self.turn_over()?;
        }
        let mut head = self.head.clone();
        let mut lines = Vec::new();
        for queued in batch {
            head = Some(chain::append(head.as_ref(), (*queued.entry).clone(), &mut lines));
            lines.push(b'\n');
        }
        if let Err(error) = self.file.write_all(&lines) {
            // Half a line would break the chain.
            self.file.set_len(self.length)?;
            return Err(error);
        }
        self.first = self.first.or_else(|| Some(self.head.as_ref().map_or(1, |head| head.seq + 1)));
        self.length += lines.len() as u64;
        self.head = head;
        self.dirty.get_or_insert_with(Instant::now);
        Ok(())
    }

    /// Puts the file aside and begins another. If that fails nothing is written, and it is tried again with the next entry.
    fn turn_over(&mut self) -> io::Result<()> {
        self.sync();
        let directory = File::open(&self.directory)?;
        let (path, next) = (pages::current(&self.directory), pages::next(&self.directory));
        // Before anything is moved: there may be no room for one more file.
        let file = create(&next)?;
        match fs::rename(&path, pages::aside(&self.directory, self.first.unwrap_or_default())) {
            // It was put aside before, when the rest failed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            moved => moved?,
        }
        fs::rename(&next, &path)?;
        (self.file, self.length, self.first) = (file, 0, None);
        if let Err(error) = self.forget() {
            warn!(%error, "could not delete an old audit log file");
        }
        directory.sync_all()
    }

    /// Deletes the oldest files, as far as there are too many.
    fn forget(&self) -> io::Result<()> {
        let Kept { file_bytes_max, files_max, young, bytes_max } = self.kept;
        let mut old = Vec::new();
        for path in pages::old(&self.directory)? {
            let about = fs::metadata(&path)?;
            // One that is of the future is young.
            let is_young = about.modified()?.elapsed().map_or(true, |age| age < young);
            old.push((path, about.len(), is_young));
        }
        // The one that is written will be full.
        let mut bytes = file_bytes_max + old.iter().map(|(_, length, _)| length).sum::<u64>();
        let mut files = old.len() + 1;
        for (path, length, is_young) in old {
            if files <= files_max || is_young && bytes <= bytes_max {
                break;
            }
            fs::remove_file(path)?;
            (files, bytes) = (files - 1, bytes - length);
        }
        Ok(())
    }

    fn sync(&mut self) {
        if self.dirty.take().is_some()
            && let Err(error) = self.file.sync_data()
        {
            error!(%error, "could not sync the audit log to disk");
        }
    }
}

fn create(path: &Path) -> io::Result<File> {
    fs::OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)
}

/// How much of the file is whole lines.
fn whole(file: &mut File, length: u64) -> io::Result<u64> {
    let tail = tail(file, length)?;
    Ok(match tail.iter().rposition(|byte| *byte == b'\n') {
        Some(at) => length - (tail.len() - at - 1) as u64,
        None if (tail.len() as u64) < length => length,
        None => 0,
    })
}

/// The last entry of a file of whole lines; none if it is no entry.
fn last(file: &mut File, length: u64) -> io::Result<Option<ChainHead>> {
    let tail = tail(file, length)?;
    let line = tail.strip_suffix(b"\n").unwrap_or(&tail).rsplit(|byte| *byte == b'\n').next();
    let head = line.and_then(|line| {
        let entry: Value = serde_json::from_slice(line).ok()?;
        Some(ChainHead { seq: entry.get("seq")?.as_u64()?, hash: entry.get("hash")?.as_str()?.parse().ok()? })
    });
    Ok(head)
}

fn first_line(file: &mut File) -> io::Result<Option<Value>> {
    let mut start = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(LINE_BYTES_MAX).read_to_end(&mut start)?;
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Ok(serde_json::from_slice(line).ok())
}

/// The end of a file, with at least one whole line if there is one.
fn tail(file: &mut File, length: u64) -> io::Result<Vec<u8>> {
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(length.saturating_sub(2 * LINE_BYTES_MAX)))?;
    file.take(2 * LINE_BYTES_MAX).read_to_end(&mut tail)?;
    Ok(tail)
}

#[cfg(test)]
mod tests;
