//! Reads a record, also while it is written.

use std::{
    collections::HashSet,
    fs::{File, Metadata},
    io::{self, BufRead, BufReader, Read},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use protocol::relay::audit::chain::{BrokenChain, ChainHead, ChainVerifier};
use serde_json::Value;

use super::pages;

/// The longest line of a record: an entry holds no contents, and its texts are cut.
pub(super) const LINE_BYTES_MAX: u64 = 64 << 10;

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// A file cannot be read.
    #[error("could not read `{}`", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// An entry is not what it was when it was written, or not where it was.
    #[error("the hash chain of the audit log is broken at {0}")]
    Broken(BrokenChain),
}

/// A record that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The number of the oldest entry that is kept; none if there is no entry.
    pub first: Option<u64>,
    /// The last entry.
    pub head: Option<ChainHead>,
    /// How many requests began of which it is not told how they ended.
    pub unfinished: usize,
}

/// How often the files are looked at before somebody gives up who only wants to read: they change when one is full.
const LOOKS_MAX: usize = 1000;

/// The entries of a record, the oldest first.
#[derive(Debug)]
pub struct Entries {
    files: std::vec::IntoIter<(PathBuf, File)>,
    open: Option<(PathBuf, BufReader<File>)>,
}

impl Entries {
    /// Those in this directory.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(directory: &Path) -> Result<Self, Unreadable> {
        for _ in 0..LOOKS_MAX {
            if let Some(files) = look(directory)? {
                return Ok(Self { files: files.into_iter(), open: None });
            }
        }
        let source = io::Error::new(io::ErrorKind::ResourceBusy, "the log files keep changing; try again");
        Err(Unreadable::File { path: directory.to_owned(), source })
    }

    /// Those in one file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn file(path: &Path) -> Result<Self, Unreadable> {
        let file = File::open(path).map_err(|source| Unreadable::File { path: path.to_owned(), source })?;
        Ok(Self { files: vec![(path.to_owned(), file)].into_iter(), open: None })
    }

    /// The next line; what is no JSON is `null`.
    fn line(&mut self) -> Result<Option<Value>, Unreadable> {
        loop {
            if let Some((path, file)) = &mut self.open {
                let mut line = Vec::new();
                let read = file.take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
                read.map_err(|source| Unreadable::File { path: path.clone(), source })?;
                // What has no end yet is being written.
                if line.ends_with(b"\n") || line.len() as u64 == LINE_BYTES_MAX {
                    return Ok(Some(serde_json::from_slice(&line).unwrap_or_default()));
                }
                self.open = None;
            }
            let Some((path, file)) = self.files.next() else { return Ok(None) };
            self.open = Some((path, BufReader::new(file)));
        }
    }
}

/// The files as they are at one moment; none if they change just now.
fn look(directory: &Path) -> Result<Option<Vec<(PathBuf, File)>>, Unreadable> {
    let failed = |source| Unreadable::File { path: directory.to_owned(), source };
    let current = pages::current(directory);
    let last = open(&current)?;
    let old = pages::old(directory).map_err(failed)?;
    let mut files = Vec::new();
    for path in &old {
        let Some(file) = open(path)? else { return Ok(None) };
        files.push((path.clone(), file));
    }
    // While nothing was put aside, nothing was taken away either.
    let own = last.as_ref().and_then(|file| file.metadata().ok()).map(identity);
    if std::fs::metadata(&current).ok().map(identity) != own || pages::old(directory).map_err(failed)? != old
    {
        return Ok(None);
    }
    files.extend(last.map(|file| (current, file)));
    Ok(Some(files))
}

/// Opens a file; none if it is not there, or not any more.
fn open(path: &Path) -> Result<Option<File>, Unreadable> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Unreadable::File { path: path.to_owned(), source }),
    }
}

/// Which file it is, whatever it is called.
#[expect(clippy::needless_pass_by_value, reason = "it is mapped over")]
fn identity(metadata: Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

impl Iterator for Entries {
    type Item = Result<Value, Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        self.line().transpose()
    }
}

/// Whether a record holds: every entry that is kept is as it was written, and none between them is missing.
///
/// # Errors
/// If it does not; the first entry is named.
pub fn verify(entries: Entries) -> Result<Verified, Unreadable> {
    let mut chained = ChainVerifier::from_any_position();
    let mut first = None;
    let mut begun = HashSet::new();
    for entry in entries {
        let entry = entry?;
        chained.verify_next(&entry)?;
        first = first.or_else(|| chained.head().map(|head| head.seq));
        let id = entry.get("id").and_then(Value::as_str).unwrap_or_default();
        if entry.get("completed_at").is_some() {
            begun.remove(id);
        } else {
            begun.insert(id.to_owned());
        }
    }
    Ok(Verified { first, head: chained.head().cloned(), unfinished: begun.len() })
}
