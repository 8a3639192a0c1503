//! The thread that writes the record, as a disk may take its time.
//!
//! It never drops an entry of something that was done: entries that cannot be written are kept and written first, in order.
//! While there are such entries, or the file lacks its reserve, requests are refused before anything happens.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Instant,
};

use files::private_file;
use parking_lot::Mutex;
use protocol::relay::audit::chain::{self, ChainHead};
use serde_json::Value;
use tracing::{error, info, warn};

use super::{
    Kept, LedgerError, RequestMark, SYNC_EVERY, Stage, Unwritten, pages,
    queue::{Next, Queue, Queued},
    reader::LINE_BYTES_MAX,
    reserved_file::{RESERVE_BYTES, ReservedFile},
};

/// Refusals are recorded while this much of the reserve is left. Callers can cause any number of them, and nothing was done.
const REFUSAL_RESERVE_MIN: u64 = RESERVE_BYTES / 8 * 7;

/// Requests that stop something are carried out while this much is left. The rest is for the ends of what was begun.
const STOP_RESERVE_MIN: u64 = RESERVE_BYTES / 4 * 3;

pub(super) struct Writer {
    directory: PathBuf,
    kept: Kept,
    file: ReservedFile,
    /// The number of the first entry in the file; none if it has none.
    first: Option<u64>,
    /// The last entry, written or not.
    head: Option<ChainHead>,
    /// Entries that could not be written yet, as lines. There are at most as many as requests were running and waiting.
    unwritten: Vec<u8>,
    /// When something was written that may not be on the disk.
    dirty: Option<Instant>,
}

impl Writer {
    pub(super) fn open(directory: &Path, kept: Kept) -> Result<Self, LedgerError> {
        let path = pages::current(directory);
        let failed = |source| LedgerError::Open { path: path.clone(), source };
        private_file::create_directory(directory).map_err(failed)?;
        let mut file = ReservedFile::open(&path).map_err(failed)?;
        let length = file.length();
        let whole = whole(file.file(), length).map_err(failed)?;
        if whole < length {
            // The process, or the machine, was stopped in the middle of a line.
            warn!(bytes = length - whole, "truncated an incomplete entry at the end of the audit log");
            file.truncate(whole).map_err(failed)?;
        }
        file.find_reserve();
        let mut writer = Self {
            directory: directory.into(),
            kept,
            file,
            first: None,
            head: None,
            unwritten: Vec::new(),
            dirty: None,
        };
        let last_old = || Ok(pages::old(directory).map_err(failed)?.pop());
        if whole > 0 {
            let first = first_line(writer.file.file()).map_err(failed)?;
            writer.first = first.and_then(|entry| entry.get("seq")?.as_u64());
            writer.head = last(writer.file.file(), whole).map_err(failed)?;
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

    /// Writes until nobody can hand in more. `must_wait` is set while a request may begin only once its entry is written.
    pub(super) fn run(mut self, queue: &Queue, shown: &Mutex<Option<ChainHead>>, must_wait: &AtomicBool) {
        let mut is_low = false;
        loop {
            let restored = self.restore();
            match &restored {
                Ok(()) if is_low => info!("the audit log can be written again; requests are carried out"),
                Err(error) if !is_low => {
                    error!(%error, "the audit log lacks disk space; requests are refused until there is some");
                }
                _ => {}
            }
            is_low = restored.is_err();
            must_wait.store(is_low || !self.file.can_reserve(), Relaxed);
            let wait = self.dirty.map_or(SYNC_EVERY, |since| SYNC_EVERY.saturating_sub(since.elapsed()));
            match queue.next(wait) {
                Next::Batch(batch) => {
                    // Free space may have come back since; a request need not wait for the next round.
                    is_low = is_low && self.restore().is_err();
                    self.write(batch, is_low, shown);
                }
                Next::Nothing => {}
                Next::Over => break,
            }
            if self.dirty.is_some_and(|since| since.elapsed() >= SYNC_EVERY) {
                self.sync();
            }
        }
        if let Err(error) = self.flush() {
            error!(%error, bytes = self.unwritten.len(), "the last entries of the audit log are lost");
        }
        self.sync();
    }

    /// Writes what could not be written, puts a full file aside, and allocates the reserve again. Does nothing if all is well.
    fn restore(&mut self) -> io::Result<()> {
        self.flush()?;
        if self.file.length() >= self.kept.file_bytes_max {
            self.turn_over()?;
        }
        self.file.restore()
    }

    /// Writes the entries that may be written, shows the new head, and then answers the callers that wait: a caller whose entry is
    /// written must see it in the head.
    fn write(&mut self, batch: Vec<Queued>, is_low: bool, shown: &Mutex<Option<ChainHead>>) {
        let mut waiting = Vec::new();
        for Queued { entry, stage, mark, written, .. } in batch {
            // A request that did not wait for its entry may have been carried out already.
            let is_promised = stage != Stage::End && written.is_none();
            if !is_promised && !self.admits(stage, &mark, is_low) {
                written.map(|tell| tell.send(Err(Unwritten)));
                continue;
            }
            mark.set_begun();
            if self.file.length() == 0 {
                self.first = self.first.or_else(|| Some(self.head.as_ref().map_or(1, |head| head.seq + 1)));
            }
            self.head = Some(chain::append(self.head.as_ref(), *entry, &mut self.unwritten));
            self.unwritten.push(b'\n');
            waiting.extend(written);
        }
        let written = self.flush();
        if let Err(error) = &written {
            error!(%error, "could not write the audit log; the entries are kept");
        } else {
            shown.lock().clone_from(&self.head);
        }
        for tell in waiting {
            let _ = tell.send(written.as_ref().map_or(Err(Unwritten), |()| Ok(())));
        }
    }

    /// Whether an entry may be written, given what must still fit behind it.
    fn admits(&self, stage: Stage, mark: &RequestMark, is_low: bool) -> bool {
        let left = self.file.reserve().saturating_sub(self.unwritten.len() as u64);
        let has = |min| if self.file.can_reserve() { left >= min } else { !is_low };
        match stage {
            Stage::Begin => !is_low,
            Stage::Stop => has(STOP_RESERVE_MIN),
            Stage::End => mark.is_begun() || has(REFUSAL_RESERVE_MIN),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.unwritten.is_empty() {
            return Ok(());
        }
        self.file.append(&self.unwritten)?;
        self.unwritten.clear();
        self.dirty.get_or_insert_with(Instant::now);
        Ok(())
    }

    /// Puts the file aside and begins another, which has its reserve before it is written. If that fails the file is used
    /// further, for what its own reserve is good for, and turning over is tried again.
    fn turn_over(&mut self) -> io::Result<()> {
        self.sync();
        let directory = File::open(&self.directory)?;
        let (path, next) = (pages::current(&self.directory), pages::next(&self.directory));
        // Before anything is moved: there may be no room for one more file.
        let mut file = ReservedFile::open(&next)?;
        file.restore()?;
        match fs::rename(&path, pages::aside(&self.directory, self.first.unwrap_or_default())) {
            // It was put aside before, when the rest failed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            moved => moved?,
        }
        fs::rename(&next, &path)?;
        let full = std::mem::replace(&mut self.file, file);
        self.first = None;
        if let Err(error) = full.release().and_then(|()| self.forget()) {
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
            && let Err(error) = self.file.sync()
        {
            error!(%error, "could not sync the audit log to disk");
        }
    }
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
