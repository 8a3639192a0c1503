//! A device's own record of what was asked of it, for its owner.
//!
//! It is a chain of entries (`protocol::relay::audit::chain`), a line of JSON each, in `audit.jsonl`. Every request has two:
//! one when it begins and one, with the same `id`, when it has ended; one that was refused has only the second. So what was
//! going on when a device died is seen as what it is.
//!
//! An entry that a request waits for is in the file before anything else happens, so it survives the end of the process,
//! whatever ends it. What only looks waits for none: its entries are gathered for some milliseconds. Each is on the disk
//! within [`SYNC_EVERY`]: a cut of power can cost the entries of that time, and no more.
//!
//! On a full disk the device begins nothing, and records the end of what goes on. The file always has allocated space behind
//! its end for that (`reserved_file.rs`). While it lacks some of it, requests are refused; requests that stop something are
//! still carried out, and recorded in the reserve, as are refusals.
//!
//! A request that has started something which goes on ends with that: a command in the background has its end, and how it
//! came to it, in the second entry.
//!
//! When the file is full it is put aside; the oldest of those are deleted, those of the last days only if there are far too
//! many ([`Kept`]): whoever asks for a lot must not be able to have forgotten what they asked for. What is left is still a
//! chain.

mod pages;
mod queue;
mod reader;
mod reserved_file;
mod writer;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use parking_lot::Mutex;
use protocol::relay::{
    ClientId, RelayAuditEntry,
    audit::chain::{BrokenChain, ChainHead},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use self::{
    queue::{Queue, Queued},
    writer::Writer,
};

pub use reader::{Entries, Unreadable, Verified, verify};

/// How many entries may wait to be written: two for each request that may go on at a time.
const QUEUE_MAX: usize = 256;

/// How many entries can still come when a request is refused for lack of space: those that wait, and the ends of all requests
/// and commands that may run at a time.
#[cfg(test)]
const ENDS_MAX: usize = QUEUE_MAX + 128;

/// How long an entry may stay in the memory of the system.
pub const SYNC_EVERY: Duration = Duration::from_secs(1);

/// How much is kept.
#[derive(Debug, Clone, Copy)]
pub struct Kept {
    /// When a file is full: some ten thousand requests.
    pub file_bytes_max: u64,
    /// How many files there are, the one that is written among them, …
    pub files_max: usize,
    /// … and those that were written more lately than this, …
    pub young: Duration,
    /// … unless all of them are larger than this together, but for the one that is written.
    pub bytes_max: u64,
}

/// How long a file is kept in any case: time enough to look back at the work of a month.
const YOUNG: Duration = Duration::from_secs(30 * 24 * 3600);

/// How large all files may be: some million requests, and what a disk can spare.
const BYTES_MAX: u64 = 2 << 30;

impl Default for Kept {
    fn default() -> Self {
        Self { file_bytes_max: 16 << 20, files_max: 8, young: YOUNG, bytes_max: BYTES_MAX }
    }
}

/// Why there is no record.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// A file cannot be read or written.
    #[error("could not open the audit log `{}`", path.display())]
    Open {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The last entry is none, so nothing can follow it.
    #[error("the last line of the audit log `{}` is not an entry; move the file away to start a new log", path.display())]
    Broken {
        /// Which.
        path: PathBuf,
    },
}

/// The part of a request that an entry is about. It decides whether the entry may use the reserve of a full disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It begins. Its entry may not use the reserve.
    Begin,
    /// It begins, and stops something else. Its entry may use a part of the reserve.
    Stop,
    /// It has ended. Its entry is never dropped, if the request had begun; the entry of a refused request may be.
    End,
}

/// Connects the entries of one request: whether the first was taken over decides what becomes of the last.
#[derive(Debug, Clone, Default)]
pub struct RequestMark(Arc<AtomicBool>);

impl RequestMark {
    // Only the writer's thread uses these, for the entries of a request in their order.
    fn set_begun(&self) {
        self.0.store(true, Relaxed);
    }

    fn is_begun(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// An entry could not be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("could not write the audit log")]
pub struct Unwritten;

/// The record. A clone writes to the same.
#[derive(Debug, Clone)]
pub struct Ledger(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    client_id: ClientId,
    room: Arc<Semaphore>,
    queue: Arc<Queue>,
    head: Arc<Mutex<Option<ChainHead>>>,
    /// A request may begin only once its entry is written: the reserve is not known to be intact.
    must_wait: Arc<AtomicBool>,
    ended: Mutex<Option<oneshot::Receiver<()>>>,
}

/// What was handed in is written; nobody can hand in more.
impl Drop for Inner {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl Ledger {
    /// Opens the record of a device in this directory, or begins it. Only one may have it open.
    ///
    /// # Errors
    /// If it cannot be read or written, or nothing can follow what is there.
    pub fn open(directory: &Path, client_id: ClientId, kept: Kept) -> Result<Self, LedgerError> {
        let path = pages::current(directory);
        let failed = |source| LedgerError::Open { path: path.clone(), source };
        let writer = Writer::open(directory, kept)?;
        let head = Arc::new(Mutex::new(writer.head()));
        let queue = Arc::<Queue>::default();
        let (end, ended) = oneshot::channel();
        // Until the writer has looked at its reserve.
        let (shown, must_wait) = (head.clone(), Arc::new(AtomicBool::new(true)));
        let (queued, waits) = (queue.clone(), must_wait.clone());
        let work = move || {
            writer.run(&queued, &shown, &waits);
            // Whoever waits for it may have gone.
            let _ = end.send(());
        };
        std::thread::Builder::new().name("audit".into()).spawn(work).map_err(failed)?;
        Ok(Self(Arc::new(Inner {
            path,
            client_id,
            room: Arc::new(Semaphore::new(QUEUE_MAX)),
            queue,
            head,
            must_wait,
            ended: Mutex::new(Some(ended)),
        })))
    }

    /// The file that is written.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Of which device it is.
    pub fn client_id(&self) -> &ClientId {
        &self.0.client_id
    }

    /// The last entry.
    pub fn head(&self) -> Option<ChainHead> {
        self.0.head.lock().clone()
    }

    /// Writes an entry, and returns when it is in the file.
    ///
    /// # Errors
    /// If it cannot be written now, or would use space that it may not use. The end of what was begun is written later then.
    pub async fn write(
        &self,
        stage: Stage,
        mark: &RequestMark,
        entry: RelayAuditEntry,
    ) -> Result<(), Unwritten> {
        let room = self.room(stage).await?;
        let (tell, written) = oneshot::channel();
        self.push(stage, mark, entry, Some(tell), room)?;
        written.await.unwrap_or(Err(Unwritten))
    }

    /// Has an entry written after those before it, without waiting for that: if the process is killed it may be lost, but a
    /// full disk cannot prevent it. While the reserve is not known to be intact, this is [`write`](Self::write).
    ///
    /// # Errors
    /// As with [`write`](Self::write).
    pub async fn post(
        &self,
        stage: Stage,
        mark: &RequestMark,
        entry: RelayAuditEntry,
    ) -> Result<(), Unwritten> {
        if self.0.must_wait.load(Relaxed) {
            return self.write(stage, mark, entry).await;
        }
        let room = self.room(stage).await?;
        self.push(stage, mark, entry, None, room)
    }

    /// Has the end of something written; for those who cannot wait.
    pub(crate) fn write_later(&self, mark: &RequestMark, entry: RelayAuditEntry) {
        let _ = self.push(Stage::End, mark, entry, None, None);
    }

    fn push(
        &self,
        stage: Stage,
        mark: &RequestMark,
        entry: RelayAuditEntry,
        written: Option<oneshot::Sender<Result<(), Unwritten>>>,
        room: Option<OwnedSemaphorePermit>,
    ) -> Result<(), Unwritten> {
        let (entry, mark) = (Box::new(entry), mark.clone());
        self.0.queue.push(Queued { entry, stage, mark, written, _room: room })
    }

    async fn room(&self, stage: Stage) -> Result<Option<OwnedSemaphorePermit>, Unwritten> {
        match stage {
            Stage::End => Ok(None),
            // It is never closed.
            _ => self.0.room.clone().acquire_owned().await.map(Some).map_err(|_| Unwritten),
        }
    }

    /// Returns when everything is on the disk. Nothing is written after that.
    pub async fn close(&self) {
        self.0.queue.close();
        let ended = self.0.ended.lock().take();
        if let Some(ended) = ended {
            let _ = ended.await;
        }
    }
}

impl From<BrokenChain> for Unreadable {
    fn from(broken: BrokenChain) -> Self {
        Self::Broken(broken)
    }
}

#[cfg(test)]
mod tests;
