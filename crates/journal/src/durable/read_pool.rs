//! The connections for reading.

use std::{path::PathBuf, sync::Arc};

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::{Error, schema};

/// The maximum number of concurrent reads; more would only queue up at the disk.
const READS_MAX: usize = 4;

/// A pool of connections, opened on first use.
#[derive(Debug)]
pub(super) struct ReadPool {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

impl ReadPool {
    pub(super) fn new(path: PathBuf) -> ReadPool {
        ReadPool { path, idle: Mutex::default(), permits: Arc::new(Semaphore::new(READS_MAX)) }
    }

    /// Runs `read` on a blocking thread. Dropping the future only discards the result.
    pub(super) async fn run<T, F>(self: Arc<Self>, read: F) -> Result<T, Error>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| Error::Closed)?;
        let task = tokio::task::spawn_blocking(move || {
            let idle = self.idle.lock().pop();
            let conn = match idle {
                Some(conn) => conn,
                None => schema::open_again(&self.path)?,
            };
            let result = read(&conn);
            self.idle.lock().push(conn);
            // Release the permit after the connection is back: the next reader then finds it instead of opening another.
            drop(permit);
            result
        });
        task.await.map_err(|_| Error::Died)?.map_err(Error::read)
    }

    /// Closes the idle connections.
    pub(super) fn clear(&self) {
        let idle = std::mem::take(&mut *self.idle.lock());
        drop(idle);
    }
}
