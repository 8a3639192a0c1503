//! One file of journals.

use std::{
    fs::{File, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    thread::JoinHandle,
};

use tracing::error;

use super::{
    Durable, Error, Metrics, Noted,
    checkpoint::{self, Signal},
    note,
    places::Places,
    pool::Pool,
    queue::{self, Closer, Queue, Request},
    schema, writer,
};
use crate::Retention;

/// What an acknowledged append survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sync {
    /// The death of the process, however sudden. A power cut may take the last moments.
    #[default]
    Normal,
    /// A power cut too, at a few times the latency.
    Full,
}

/// One file of journals, and the threads that write it.
///
/// Dropping it, or closing it, writes what is queued, ends the threads and lets other processes in. That blocks for
/// as long as it takes; journals and readers that are still held are then closed.
#[derive(Debug)]
pub struct Store {
    queue: Queue,
    closer: Closer,
    pool: Arc<Pool>,
    signal: Arc<Signal>,
    writer: Option<JoinHandle<()>>,
    checkpoint: Option<JoinHandle<()>>,
    lock: File,
}

impl Store {
    /// Opens the file, or creates it. Blocks: a start-up affair.
    ///
    /// # Errors
    /// [`Error::Locked`], [`Error::Newer`], [`Error::Foreign`], [`Error::Corrupt`], [`Error::Open`],
    /// [`Error::Prepare`]; the file is then as it was.
    pub fn open(path: impl Into<PathBuf>) -> Result<Store, Error> {
        Store::open_with(path, Sync::Normal, Metrics::default())
    }

    /// As [`Store::open`], with a say in what an append survives, and where that is counted.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_with(path: impl Into<PathBuf>, sync: Sync, metrics: Metrics) -> Result<Store, Error> {
        let path = path.into();
        let lock = lock(&path)?;
        let conn = schema::open(&path, sync)?;
        let failed = |source| Error::Open { path: path.clone(), source: Arc::new(source) };
        let places = Places::open(&conn).map_err(failed)?;
        let copier = schema::open_again(&path).map_err(failed)?;
        let prepare = |source| Error::Prepare { path: path.clone(), source: Arc::new(source) };
        let (queue, closer, requests) = queue::queue();
        let (signal, pool) = (Arc::new(Signal::default()), Arc::new(Pool::new(path.clone())));
        let mut store = Store { queue, closer, pool, signal, writer: None, checkpoint: None, lock };
        let writing = writer::start(conn, places, requests, Arc::clone(&store.signal), metrics);
        store.writer = Some(writing.map_err(prepare)?);
        let copying = checkpoint::start(copier, &path, Arc::clone(&store.signal)).map_err(prepare)?;
        store.checkpoint = Some(copying);
        Ok(store)
    }

    /// The journal of that name, created if there is none. It has the same epoch and frames whenever it is opened;
    /// the retention is that of the last call.
    ///
    /// # Errors
    /// [`Error::Write`], [`Error::Died`].
    pub async fn journal(&self, name: &str, retention: Retention) -> Result<Durable, Error> {
        let name = name.to_owned();
        let shared = self.queue.ask(|reply| Request::Open { name, retention, reply }).await?;
        Ok(Durable { shared, queue: self.queue.clone(), pool: Arc::clone(&self.pool) })
    }

    /// Deletes the journal of that name; answers whether there was one. A later one of that name is a new journal.
    ///
    /// # Errors
    /// [`Error::Write`], [`Error::Died`].
    pub async fn delete(&self, name: &str) -> Result<bool, Error> {
        let name = name.to_owned();
        self.queue.ask(|reply| Request::Delete { name, reply }).await
    }

    /// All notes of a kind, by journal and key.
    ///
    /// # Errors
    /// [`Error::Read`], [`Error::Died`].
    pub async fn notes(&self, kind: &'static str) -> Result<Vec<Noted>, Error> {
        Arc::clone(&self.pool).run(move |conn| note::all(conn, kind)).await
    }

    /// Writes what is queued and ends the threads, as dropping does. Blocks until that is done.
    pub fn close(self) {}
}

impl Drop for Store {
    fn drop(&mut self) {
        self.closer.close();
        let writer = self.writer.take().map(JoinHandle::join);
        self.signal.close();
        let checkpoint = self.checkpoint.take().map(JoinHandle::join);
        if matches!(writer, Some(Err(_))) || matches!(checkpoint, Some(Err(_))) {
            error!("a thread of the journal store had died");
        }
        self.pool.clear();
        // Last: only now may another process write. In so many words, as closing the file is not enough while a child
        // process is being started, which has it too until it has become another program.
        if let Err(error) = self.lock.unlock() {
            error!(%error, "could not unlock the journal store");
        }
    }
}

/// Takes the lock beside the file. It goes with the process, however that ends; the empty file stays.
fn lock(path: &Path) -> Result<File, Error> {
    let mut name = path.as_os_str().to_owned();
    name.push("-lock");
    let failed = |source: io::Error| Error::Prepare { path: path.into(), source: Arc::new(source) };
    let file = File::options().create(true).truncate(false).write(true).open(name).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Locked(path.into())),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}
