//! A store: one database file with many journals.

use std::{
    fs::{File, Permissions, TryLockError},
    io,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
    thread::JoinHandle,
};

use tracing::{error, warn};

use super::{
    DurableJournal, Error, JournalMetrics, StoredRecord,
    checkpoint::{self, CheckpointSignal},
    disk_reserve::{self, DiskReserve, LowFlag},
    queue::{self, QueueCloser, WriterQueue, WriterRequest},
    read_pool::ReadPool,
    record,
    row_index::RowIndex,
    schema,
    writer_thread::{self, WriterParts},
};
use crate::Retention;

/// The mode of files that only their owner may read and write.
const PRIVATE: u32 = 0o600;

/// The failures that an acknowledged append survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SyncMode {
    /// A crash or kill of the process. A power cut may lose the last moments.
    #[default]
    Normal,
    /// A power cut as well, at a few times the latency.
    Full,
}

/// A database file with many journals, and the threads that write it.
///
/// Dropping or closing it writes the queued requests, ends the threads and releases the lock on the file. That blocks until
/// done. Handles and readers that still exist then return [`Error::Closed`] or end.
#[derive(Debug)]
pub struct JournalStore {
    queue: WriterQueue,
    closer: QueueCloser,
    pool: Arc<ReadPool>,
    signal: Arc<CheckpointSignal>,
    low: LowFlag,
    writer: Option<JoinHandle<()>>,
    checkpoint: Option<JoinHandle<()>>,
    lock: File,
}

impl JournalStore {
    /// Opens or creates the file. Blocks, so call it at start-up.
    ///
    /// # Errors
    /// [`Error::Locked`], [`Error::Newer`], [`Error::Foreign`], [`Error::Corrupt`], [`Error::Open`],
    /// [`Error::Prepare`]; the file is then unchanged.
    pub fn open(path: impl Into<PathBuf>) -> Result<JournalStore, Error> {
        JournalStore::open_with(path, SyncMode::Normal, JournalMetrics::default())
    }

    /// As [`JournalStore::open`], with a choice of durability and metrics.
    ///
    /// # Errors
    /// As [`JournalStore::open`].
    pub fn open_with(
        path: impl Into<PathBuf>,
        sync: SyncMode,
        metrics: JournalMetrics,
    ) -> Result<JournalStore, Error> {
        let path = path.into();
        let lock = lock_file(&path)?;
        make_private(&path)?;
        let open_failed = |source| Error::Open { path: path.clone(), source: Arc::new(source) };
        let prepare_failed = |source| Error::Prepare { path: path.clone(), source: Arc::new(source) };
        let conn = schema::open(&path, sync)?;
        let row_index = RowIndex::open(&conn).map_err(open_failed)?;
        let checkpoint_conn = schema::open_again(&path).map_err(open_failed)?;
        for conn in [&conn, &checkpoint_conn] {
            disk_reserve::keep_chunks(conn).map_err(open_failed)?;
        }
        let low = LowFlag::default();
        let reserve = DiskReserve::open(&path, &conn, low.clone()).map_err(prepare_failed)?;
        let (queue, closer, requests) = queue::queue();
        let signal = Arc::new(CheckpointSignal::default());
        let pool = Arc::new(ReadPool::new(path.clone()));
        // Build the store before the threads: if a thread cannot start, dropping the store ends the other one.
        let mut store = JournalStore {
            queue,
            closer,
            pool,
            signal: Arc::clone(&signal),
            low,
            writer: None,
            checkpoint: None,
            lock,
        };
        let parts = WriterParts { conn, reserve, row_index, requests, signal: Arc::clone(&signal), metrics };
        store.writer = Some(writer_thread::start(parts).map_err(prepare_failed)?);
        store.checkpoint = Some(checkpoint::start(checkpoint_conn, &path, signal).map_err(prepare_failed)?);
        Ok(store)
    }

    /// Whether the disk is full, and appends use up the reserve. Admit nothing then that needs more of them.
    pub fn is_low(&self) -> bool {
        self.low.get()
    }

    /// Opens or creates the journal `name`. Its epoch and frames survive restarts. The retention of the last call applies.
    ///
    /// # Errors
    /// [`Error::Write`], [`Error::Died`].
    pub async fn journal(&self, name: &str, retention: Retention) -> Result<DurableJournal, Error> {
        let name = name.to_owned();
        let view = self.queue.request(|reply| WriterRequest::Open { name, retention, reply }).await?;
        let (queue, pool, low) = (self.queue.clone(), Arc::clone(&self.pool), self.low.clone());
        Ok(DurableJournal { view, queue, pool, low })
    }

    /// Deletes the journal `name` and returns whether it existed. A journal created later under that name has a new epoch.
    ///
    /// # Errors
    /// [`Error::Write`], [`Error::Died`].
    pub async fn delete(&self, name: &str) -> Result<bool, Error> {
        let name = name.to_owned();
        self.queue.request(|reply| WriterRequest::Delete { name, reply }).await
    }

    /// All records of a kind, ordered by journal and key.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Died`].
    pub async fn records(&self, kind: &'static str) -> Result<Vec<StoredRecord>, Error> {
        Arc::clone(&self.pool).run(move |conn| record::list_all(conn, kind)).await
    }

    /// Writes the queued requests and ends the threads, as dropping does. Blocks until that is done.
    pub fn close(self) {}
}

impl Drop for JournalStore {
    fn drop(&mut self) {
        self.closer.close();
        let writer = self.writer.take().map(JoinHandle::join);
        self.signal.close();
        let checkpoint = self.checkpoint.take().map(JoinHandle::join);
        if matches!(writer, Some(Err(_))) || matches!(checkpoint, Some(Err(_))) {
            error!("a thread of the journal store panicked");
        }
        self.pool.clear();
        // Unlock last: only now may another process write. Unlock explicitly, because closing the file is not enough: a
        // child process between fork and exec still shares the open file, and the lock belongs to the open file.
        if let Err(error) = self.lock.unlock() {
            error!(%error, "could not unlock the journal store");
        }
    }
}

/// Makes the database and the files beside it readable for their owner only, whatever the umask and earlier versions left.
///
/// SQLite gives its write-ahead log and index the mode of the database, so a new database is created here.
fn make_private(path: &Path) -> Result<(), Error> {
    let failed = |source: io::Error| Error::Prepare { path: path.into(), source: Arc::new(source) };
    File::options().create(true).truncate(false).write(true).mode(PRIVATE).open(path).map_err(failed)?;
    for suffix in ["", "-wal", "-shm", "-lock"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let Ok(metadata) = std::fs::metadata(&name) else { continue };
        if metadata.permissions().mode() & 0o077 != 0 {
            warn!(path = %Path::new(&name).display(), "made a database file private; others could read it");
            std::fs::set_permissions(&name, Permissions::from_mode(PRIVATE)).map_err(failed)?;
        }
    }
    Ok(())
}

/// Locks the file `<path>-lock`. The lock ends with the process, even when that is killed; the empty file stays.
fn lock_file(path: &Path) -> Result<File, Error> {
    let mut name = path.as_os_str().to_owned();
    name.push("-lock");
    let failed = |source: io::Error| Error::Prepare { path: path.into(), source: Arc::new(source) };
    let file =
        File::options().create(true).truncate(false).write(true).mode(PRIVATE).open(name).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Locked(path.into())),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}
