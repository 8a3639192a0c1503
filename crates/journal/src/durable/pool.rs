//! The connections that read.

use std::{path::PathBuf, sync::Arc};

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::{Error, schema};

/// How many pages are read at the same time; more would only queue up at the disk.
const READS_MAX: usize = 4;

/// A few connections, opened when first needed and used in turn.
#[derive(Debug)]
pub(super) struct Pool {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

impl Pool {
    pub(super) fn new(path: PathBuf) -> Pool {
        Pool { path, idle: Mutex::default(), permits: Arc::new(Semaphore::new(READS_MAX)) }
    }

    /// Runs `read` on a blocking thread. Dropping the future loses its result and nothing else.
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
            // Only now: whoever gets the permit next finds the connection.
            drop(permit);
            result
        });
        task.await.map_err(|_| Error::Died)?.map_err(Error::read)
    }

    /// Closes the connections that are idle.
    pub(super) fn clear(&self) {
        let idle = std::mem::take(&mut *self.idle.lock());
        drop(idle);
    }
}
