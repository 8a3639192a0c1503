//! Copying the write-ahead log back into the file, beside the writer.

use std::{
    fs::File,
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use parking_lot::{Condvar, Mutex};
use rusqlite::Connection;
use tracing::warn;

use super::schema::WAL_BYTES_MAX;

/// How often the log is copied while there are writes. A power cut takes little more than that.
const PAUSE: Duration = Duration::from_millis(100);

/// How often the log is copied before the writer finishes that.
const ROUNDS: usize = 3;

/// What the writer and the checkpoint thread tell each other.
#[derive(Debug, Default)]
pub(super) struct Signal {
    dirty: AtomicBool,
    overgrown: AtomicBool,
    closing: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    /// There were writes. Costs a lock only when the thread sleeps.
    pub(super) fn wrote(&self) {
        if !self.dirty.swap(true, Ordering::AcqRel) {
            // Under the lock: otherwise it could fall between the thread's look and its sleep.
            let _closing = self.closing.lock();
            self.changed.notify_one();
        }
    }

    /// Whether the writer must finish the copy itself, once. The log can only start anew when all of it is copied,
    /// which never comes about by itself while the writer keeps adding; it would grow for as long as there is load.
    pub(super) fn take_overgrown(&self) -> bool {
        self.overgrown.load(Ordering::Relaxed) && self.overgrown.swap(false, Ordering::AcqRel)
    }

    /// Ends the thread.
    pub(super) fn close(&self) {
        *self.closing.lock() = true;
        self.changed.notify_one();
    }

    /// Sleeps until there were writes and then for the pause; false when it is time to end.
    fn wait(&self) -> bool {
        let mut closing = self.closing.lock();
        while !*closing && !self.dirty.load(Ordering::Acquire) {
            self.changed.wait(&mut closing);
        }
        if !*closing {
            self.changed.wait_while_for(&mut closing, |closing| !*closing, PAUSE);
        }
        self.dirty.store(false, Ordering::Release);
        !*closing
    }
}

/// Starts the thread, which copies the log of the file at `path`; it ends when `signal` is closed.
pub(super) fn start(conn: Connection, path: &Path, signal: Arc<Signal>) -> io::Result<JoinHandle<()>> {
    let file = File::open(path)?;
    thread::Builder::new().name("journal-wal".into()).spawn(move || {
        while signal.wait() {
            match copy(&conn) {
                Ok(bytes) if bytes > WAL_BYTES_MAX => {
                    prepare(&conn, &file);
                    signal.overgrown.store(true, Ordering::Release);
                }
                Ok(_) => {}
                Err(error) => warn!(%error, "could not copy the write-ahead log"),
            }
        }
    })
}

/// Sees to it that the writer, which finishes the copy, has to wait for little: each round is shorter than the one before,
/// as less was added meanwhile.
fn prepare(conn: &Connection, file: &File) {
    for _ in 0..ROUNDS {
        // What fails here fails in the writer too, and is told.
        let _ = file.sync_data();
        let _ = copy(conn);
    }
}

/// Copies what can be copied without waiting for anyone; answers with the size of the log.
pub(super) fn copy(conn: &Connection) -> rusqlite::Result<u64> {
    let pages: i64 = conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(1))?;
    // A frame of the log is a page and a small header.
    let page_bytes: i64 = conn.pragma_query_value(None, "page_size", |row| row.get(0))?;
    Ok(u64::try_from(pages * page_bytes).unwrap_or(0))
}
