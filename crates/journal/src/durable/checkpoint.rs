//! Checkpoints: copying the write-ahead log into the database file, beside the writer thread.
//!
//! In SQLite's WAL mode a commit only appends to the log. A *passive* checkpoint copies committed pages into the database
//! without blocking anyone. The log can start over from its beginning only when all of it has been copied, and under
//! continuous load this thread never reaches the end before the writer adds more. So when the log exceeds its
//! limit, this thread copies most of it and then leaves the last round to the writer, which adds nothing meanwhile.

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

/// The pause between checkpoints while there are writes. In [`SyncMode::Normal`](super::SyncMode::Normal) a power cut
/// loses little more than this.
const CHECKPOINT_INTERVAL: Duration = Duration::from_millis(100);

/// The number of rounds before the writer copies the rest. Each is shorter than the one before, as fewer pages were added.
const CATCH_UP_ROUNDS: usize = 3;

/// The signals between the writer and the checkpoint thread.
#[derive(Debug, Default)]
pub(super) struct CheckpointSignal {
    /// There were writes since the last checkpoint.
    dirty: AtomicBool,
    /// The log exceeds its limit, and the writer is to copy the rest.
    overgrown: AtomicBool,
    closing: Mutex<bool>,
    changed: Condvar,
}

impl CheckpointSignal {
    /// Announces a write. It takes the lock only if the checkpoint thread may be asleep.
    pub(super) fn notify_write(&self) {
        if !self.dirty.swap(true, Ordering::AcqRel) {
            // Notify under the lock: otherwise the notification could fall between the thread's check of `dirty` and
            // its sleep, and the thread would sleep through it.
            let _closing = self.closing.lock();
            self.changed.notify_one();
        }
    }

    /// Whether the writer must copy the rest of the log now. Resets the request.
    pub(super) fn take_overgrown(&self) -> bool {
        self.overgrown.load(Ordering::Relaxed) && self.overgrown.swap(false, Ordering::AcqRel)
    }

    /// Ends the checkpoint thread.
    pub(super) fn close(&self) {
        *self.closing.lock() = true;
        self.changed.notify_one();
    }

    /// Sleeps until there is a write, and then for the interval. Returns false when the thread is to end.
    fn wait_for_write(&self) -> bool {
        let mut closing = self.closing.lock();
        while !*closing && !self.dirty.load(Ordering::Acquire) {
            self.changed.wait(&mut closing);
        }
        if !*closing {
            self.changed.wait_while_for(&mut closing, |closing| !*closing, CHECKPOINT_INTERVAL);
        }
        self.dirty.store(false, Ordering::Release);
        !*closing
    }
}

/// Starts the thread that copies the log of the file at `path`. It ends when `signal` is closed.
pub(super) fn start(
    conn: Connection,
    path: &Path,
    signal: Arc<CheckpointSignal>,
) -> io::Result<JoinHandle<()>> {
    let file = File::open(path)?;
    thread::Builder::new().name("journal-wal".into()).spawn(move || {
        while signal.wait_for_write() {
            match copy_log(&conn) {
                Ok(bytes) if bytes > WAL_BYTES_MAX => {
                    catch_up(&conn, &file);
                    signal.overgrown.store(true, Ordering::Release);
                }
                Ok(_) => {}
                Err(error) => warn!(%error, "could not copy the write-ahead log"),
            }
        }
    })
}

/// Copies as much as possible, so that little is left for the writer. Syncing the file here saves the writer that wait too.
fn catch_up(conn: &Connection, file: &File) {
    for _ in 0..CATCH_UP_ROUNDS {
        // Errors are ignored: the writer runs into the same ones and logs them.
        let _ = file.sync_data();
        let _ = copy_log(conn);
    }
}

/// Copies all pages that can be copied without waiting, and returns the size of the log.
pub(super) fn copy_log(conn: &Connection) -> rusqlite::Result<u64> {
    let pages: i64 = conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(1))?;
    // The log stores each page with a small header, which is neglected here.
    let page_bytes: i64 = conn.pragma_query_value(None, "page_size", |row| row.get(0))?;
    Ok(u64::try_from(pages * page_bytes).unwrap_or(0))
}
