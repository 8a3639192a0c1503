//! Disk space that the store keeps for itself, so that the most important writes succeed on a full disk.
//!
//! Another process may take every free block at any moment, so all space that a commit needs is allocated before:
//!
//! - *In the database*: the table `reserve` holds a blob. When a commit fails for lack of space, the writer deletes the blob
//!   and commits again, into the pages that are free now. The store is *low* until the blob is back.
//! - *In the write-ahead log*: its beginning is allocated with `fallocate` and never given back while the store is open.
//!   On a full disk the writer copies the log into the database and starts over from the beginning.
//! - *For that copy*: a page that is new in the log has its block in the database file before the commit. The file grows in
//!   chunks, by `fallocate` here and by SQLite's chunk size in checkpoints, which would truncate the file otherwise.

use std::{
    fs::File,
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rusqlite::{Connection, ErrorCode, ffi};
use rustix::{
    fs::{FallocateFlags, fallocate},
    io::Errno,
};

/// The size of the blob in `reserve`: more than a thousand entries of an audit log.
const RESERVE_BYTES: u64 = 1 << 20;

/// The allocated beginning of the write-ahead log: enough to write the blob back, and for some hundred commits in between
/// two checkpoints.
const WAL_BYTES: u64 = 2 << 20;

/// The steps in which the database file grows.
const CHUNK_BYTES: u64 = 256 << 10;

/// Whether a store lacks its reserve. Clones share the state.
#[derive(Debug, Clone, Default)]
pub(super) struct LowFlag(Arc<AtomicBool>);

impl LowFlag {
    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn set(&self, is_low: bool) {
        self.0.store(is_low, Ordering::Release);
    }
}

/// The reserve of one store. The writer thread owns it.
#[derive(Debug)]
pub(super) struct DiskReserve {
    database: File,
    /// The end of the allocated part of the database file; `None` if the file system cannot allocate space ahead.
    claimed: Option<u64>,
    page_bytes: u64,
    low: LowFlag,
}

impl DiskReserve {
    /// Takes over the file at `path`, which `conn` has opened, and creates the reserve if there is space.
    pub(super) fn open(path: &Path, conn: &Connection, low: LowFlag) -> io::Result<Self> {
        let database = File::options().write(true).open(path)?;
        let number = |name| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let page_bytes = number("page_size").map_err(io::Error::other)?.max(1) as u64;
        // Not the length of the file: what is behind the last page may have no blocks.
        let claimed = Some(number("page_count").map_err(io::Error::other)? as u64 * page_bytes);
        let mut reserve = Self { database, claimed, page_bytes, low };
        // A full disk does not prevent the start: the store is low then.
        let created = allocate_log(path).map_err(|error| into_sqlite(&error)).and_then(|()| {
            // Earlier versions ignore the table, so it needs no new format version.
            conn.execute_batch("CREATE TABLE IF NOT EXISTS reserve (filler BLOB NOT NULL) STRICT")?;
            reserve.create(conn)
        });
        reserve.low.set(created.is_err());
        match created {
            Err(error) if !is_full(&error) => Err(io::Error::other(error)),
            _ => Ok(reserve),
        }
    }

    pub(super) fn is_low(&self) -> bool {
        self.low.get()
    }

    /// Gives the reserve to the commits that follow, and makes the write-ahead log start over. Returns whether there was any.
    pub(super) fn release(&self, conn: &Connection) -> rusqlite::Result<bool> {
        self.low.set(true);
        restart_log(conn)?;
        Ok(conn.execute("DELETE FROM reserve", [])? > 0)
    }

    /// Creates the reserve if it is missing, and ends the low state. Fails quickly while the disk is full.
    pub(super) fn restore(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        restart_log(conn)?;
        self.create(conn)?;
        self.low.set(false);
        Ok(())
    }

    fn create(&mut self, conn: &Connection) -> rusqlite::Result<()> {
        if conn.query_row("SELECT count(*) FROM reserve", [], |row| row.get::<_, i64>(0))? > 0 {
            return Ok(());
        }
        let free: i64 = conn.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
        let pages: i64 = conn.pragma_query_value(None, "page_count", |row| row.get(0))?;
        // One page more, for the row itself.
        let needed = RESERVE_BYTES / self.page_bytes + 1 + pages as u64 - (free as u64).min(pages as u64);
        self.claim(needed.max(pages as u64))?;
        let transaction = conn.unchecked_transaction()?;
        transaction.execute("INSERT INTO reserve (filler) VALUES (zeroblob(?1))", [RESERVE_BYTES as i64])?;
        self.claim_transaction(&transaction)?;
        transaction.commit()?;
        // The pages have their blocks once they are in the database.
        restart_log(conn)
    }

    /// Allocates the blocks for all pages of the database as the current transaction leaves it; called before its commit.
    /// Returns whether the file has grown: then call [`confirm`](Self::confirm) after the commit.
    pub(super) fn claim_transaction(&mut self, transaction: &Connection) -> rusqlite::Result<bool> {
        let pages: i64 = transaction.prepare_cached("PRAGMA page_count")?.query_row([], |row| row.get(0))?;
        self.claim(pages as u64)
    }

    fn claim(&mut self, pages: u64) -> rusqlite::Result<bool> {
        let Some(claimed) = self.claimed else { return Ok(false) };
        let needed = pages * self.page_bytes;
        if needed <= claimed {
            return Ok(false);
        }
        let end = needed.next_multiple_of(CHUNK_BYTES);
        match fallocate(&self.database, FallocateFlags::empty(), claimed, end - claimed) {
            Ok(()) => self.claimed = Some(end),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.claimed = None,
            Err(error) => return Err(into_sqlite(&error.into())),
        }
        Ok(true)
    }

    /// Allocates the last chunk once more: a checkpoint that completed before the commit has truncated the file to what it
    /// knew.
    pub(super) fn confirm(&self) {
        if let Some(end) = self.claimed {
            let start = end.saturating_sub(CHUNK_BYTES);
            // If it fails, the next checkpoint may fail too and is repeated.
            let _ = fallocate(&self.database, FallocateFlags::empty(), start, end - start);
        }
    }

    /// Forgets what was claimed for a transaction that failed: the next checkpoint truncates it.
    pub(super) fn forget_claim(&mut self, conn: &Connection) {
        let pages: i64 = conn.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap_or(0);
        self.claimed = self.claimed.map(|claimed| claimed.min(pages as u64 * self.page_bytes));
    }
}

/// Makes checkpoints of this connection keep the file at whole chunks.
#[expect(unsafe_code, reason = "SQLite's file controls have no safe interface")]
pub(super) fn keep_chunks(conn: &Connection) -> rusqlite::Result<()> {
    let mut bytes = CHUNK_BYTES as std::ffi::c_int;
    // SAFETY: the handle is valid while `conn` is borrowed, the name is a C string, and this operation reads one `int`.
    let code = unsafe {
        ffi::sqlite3_file_control(
            conn.handle(),
            c"main".as_ptr(),
            ffi::SQLITE_FCNTL_CHUNK_SIZE,
            std::ptr::from_mut(&mut bytes).cast(),
        )
    };
    if code == ffi::SQLITE_OK {
        Ok(())
    } else {
        Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None))
    }
}

/// Whether an error means that the disk is full.
pub(super) fn is_full(error: &rusqlite::Error) -> bool {
    let extended = error.sqlite_error().map(|error| error.extended_code);
    error.sqlite_error_code() == Some(ErrorCode::DiskFull) || extended == Some(ffi::SQLITE_IOERR_SHMSIZE)
}

/// Copies all of the write-ahead log into the database, so that the next commit writes to its allocated beginning.
fn restart_log(conn: &Connection) -> rusqlite::Result<()> {
    conn.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()))
}

/// Allocates the beginning of the write-ahead log. The file exists once the connection has written, and is deleted when the
/// store is closed.
fn allocate_log(path: &Path) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    let log = File::options().write(true).open(name)?;
    match fallocate(&log, FallocateFlags::KEEP_SIZE, 0, WAL_BYTES) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn into_sqlite(error: &io::Error) -> rusqlite::Error {
    let code = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ffi::SQLITE_FULL,
        _ => ffi::SQLITE_IOERR_WRITE,
    };
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some(error.to_string()))
}
