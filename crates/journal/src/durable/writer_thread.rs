//! The thread that writes all journals of a store.

use std::{
    collections::HashMap,
    io,
    num::NonZeroU64,
    sync::{Arc, atomic::Ordering},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension};
use tokio::sync::mpsc;
use tracing::{debug, info, warn};

use super::{
    Error, JournalMetrics, checkpoint,
    checkpoint::CheckpointSignal,
    disk_reserve::{self, DiskReserve},
    event_rows::{self, RowRange},
    journal::JournalView,
    queue::{AppendRequest, WriterRequest},
    record,
    row_index::{RowIndex, UnindexedRows},
};
use crate::{Epoch, Retention, RingJournal, RingWriter};

/// The maximum number of requests in one transaction.
const GROUP_MAX: usize = 1024;

/// The bytes of recent frames that each open journal keeps in memory for its readers. With this value and the overhead per
/// event, two hundred journals under load use less than 300 MB.
pub(super) const TAIL_BYTES: NonZeroU64 = NonZeroU64::new(512 * 1024).unwrap();

/// With fewer open journals than this, the writer does not look for unused ones to close.
const OPEN_MIN: usize = 64;

/// While the store is low, the writer tries to create its reserve again after this time.
const RESTORE_INTERVAL: Duration = Duration::from_millis(200);

/// While the store is low, the writer looks for requests this often, as it must wake up by itself.
const LOW_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The parts of an opened store that the writer thread takes over.
pub(super) struct WriterParts {
    pub(super) conn: Connection,
    pub(super) reserve: DiskReserve,
    pub(super) row_index: RowIndex,
    pub(super) requests: mpsc::Receiver<WriterRequest>,
    pub(super) signal: Arc<CheckpointSignal>,
    pub(super) metrics: JournalMetrics,
}

/// Starts the thread. It ends on [`WriterRequest::Close`], or when all senders are gone.
pub(super) fn start(parts: WriterParts) -> io::Result<JoinHandle<()>> {
    let writer = WriterThread::new(parts);
    thread::Builder::new().name("journal".into()).spawn(move || writer.run())
}

struct WriterThread {
    conn: Connection,
    reserve: DiskReserve,
    /// When the writer last tried to create the reserve.
    restored_at: Instant,
    row_index: RowIndex,
    requests: mpsc::Receiver<WriterRequest>,
    signal: Arc<CheckpointSignal>,
    metrics: JournalMetrics,
    open: HashMap<i64, OpenJournal>,
    /// The journals that the current transaction changes.
    touched: Vec<i64>,
    /// Once this many journals are open, those without handles are closed.
    sweep_at: usize,
    /// Deleted journals that still have rows.
    deleted: Vec<i64>,
    closing: bool,
}

/// A journal with handles, or with rows that are not indexed yet.
struct OpenJournal {
    view: Arc<JournalView>,
    tail: RingWriter,
    retention: Retention,
    /// The committed and published state.
    rows: RowState,
    /// The state after the current transaction. It replaces `rows` when the transaction commits and is dropped when it
    /// fails, so that a failed append leaves no trace: no number is used up and no row counts as written.
    uncommitted: Option<RowState>,
}

/// The rows of a journal.
#[derive(Debug, Clone)]
struct RowState {
    range: RowRange,
    unindexed: UnindexedRows,
}

impl WriterThread {
    fn new(parts: WriterParts) -> Self {
        let WriterParts { conn, reserve, row_index, requests, signal, metrics } = parts;
        Self {
            conn,
            reserve,
            restored_at: Instant::now(),
            row_index,
            requests,
            signal,
            metrics,
            open: HashMap::new(),
            touched: Vec::new(),
            sweep_at: OPEN_MIN,
            deleted: Vec::new(),
            closing: false,
        }
    }

    fn run(mut self) {
        self.deleted = self.find_deleted().unwrap_or_default();
        let mut group = Vec::with_capacity(GROUP_MAX);
        while !self.closing && self.receive(&mut group) {
            self.process(&mut group);
            self.purge_deleted();
            self.restore_reserve();
            if self.signal.take_overgrown()
                && let Err(error) = checkpoint::copy_log(&self.conn)
            {
                warn!(%error, "could not copy the write-ahead log");
            }
        }
        // Not `recv` until the channel is empty: that would wait for senders that hold a place in the queue, and these
        // may run on the very thread that waits for us in `JournalStore::drop`.
        self.requests.close();
        while let Ok(request) = self.requests.try_recv() {
            group.push(request);
        }
        self.process(&mut group);
    }

    /// Fills `group` and waits for at least one request, unless deleted rows remain to be removed or the reserve is missing.
    /// Returns false when no request can come any more.
    fn receive(&mut self, group: &mut Vec<WriterRequest>) -> bool {
        if self.deleted.is_empty() && !self.reserve.is_low() {
            return self.requests.blocking_recv_many(group, GROUP_MAX) > 0;
        }
        if self.deleted.is_empty() && self.requests.is_empty() {
            // The channel has no blocking receive with a timeout, and no other thread unparks this one.
            thread::park_timeout(LOW_POLL_INTERVAL);
        }
        while group.len() < GROUP_MAX {
            match self.requests.try_recv() {
                Ok(request) => group.push(request),
                Err(mpsc::error::TryRecvError::Empty) => break,
                Err(mpsc::error::TryRecvError::Disconnected) => return !group.is_empty(),
            }
        }
        true
    }

    /// Processes the requests in order. Consecutive appends share a transaction.
    fn process(&mut self, group: &mut Vec<WriterRequest>) {
        let mut appends = Vec::with_capacity(group.len());
        for request in group.drain(..) {
            if let WriterRequest::Append(append) = request {
                appends.push(append);
                continue;
            }
            self.append(&mut appends);
            // A failed send means that the caller was cancelled and does not need the result.
            match request {
                WriterRequest::Append(_) => {}
                WriterRequest::Open { name, retention, reply } => {
                    let opened = self.with_reserve(|writer| writer.open(&name, retention));
                    let _ = reply.send(opened.map_err(Error::write));
                }
                WriterRequest::Delete { name, reply } => {
                    let deleted = self.with_reserve(|writer| writer.delete(&name));
                    let _ = reply.send(deleted.map_err(Error::write));
                }
                WriterRequest::Close => self.closing = true,
            }
        }
        self.append(&mut appends);
    }

    /// Commits the group, then publishes it to readers, then answers the callers.
    ///
    /// The order is the durability promise: neither a reader nor a caller learns of a frame that a crash could still take
    /// back. `row_range` is published before the tails, so that a reader that has just seen a frame never finds bounds
    /// that end before it.
    fn append(&mut self, appends: &mut Vec<AppendRequest>) {
        if appends.is_empty() {
            return;
        }
        let started = Instant::now();
        let committed = self.with_reserve(|writer| writer.commit(appends)).map_err(Error::write);
        match &committed {
            Ok(()) => {
                let size = GroupSize::measure(appends);
                self.metrics.record_commit(size.frames, size.bytes, started.elapsed());
            }
            Err(_) => self.metrics.record_failure(),
        }
        for id in self.touched.drain(..) {
            let Some(open) = self.open.get_mut(&id) else { continue };
            if let Some(rows) = open.uncommitted.take()
                && committed.is_ok()
            {
                self.row_index.update_unindexed(id, &open.rows.unindexed, &rows.unindexed);
                open.rows = rows;
                *open.view.row_range.lock() = open.rows.range;
            }
        }
        for AppendRequest { journal, frames, reply, .. } in appends.drain(..) {
            let answer = match (&committed, self.open.get_mut(&journal.id)) {
                (Err(error), _) => Err(error.clone()),
                (Ok(()), None) => Err(Error::Deleted),
                (Ok(()), Some(open)) => Ok(open.tail.append(frames)),
            };
            let _ = reply.send(answer);
        }
        self.signal.notify_write();
    }

    /// Runs `write`, and once more from the reserve if the disk is full.
    fn with_reserve<T>(
        &mut self,
        mut write: impl FnMut(&mut Self) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let mut result = write(self);
        if result.as_ref().is_err_and(disk_reserve::is_full) {
            self.reset_uncommitted();
            self.reserve.forget_claim(&self.conn);
            let was_low = self.reserve.is_low();
            match self.reserve.release(&self.conn) {
                Ok(_) if !was_low => warn!("the disk is full: writing to the space held back for that"),
                Ok(_) => {}
                Err(error) => warn!(%error, "could not use the space held back for a full disk"),
            }
            result = write(self);
        }
        result
    }

    /// Forgets what a failed transaction has changed.
    fn reset_uncommitted(&mut self) {
        for id in self.touched.drain(..) {
            if let Some(open) = self.open.get_mut(&id) {
                open.uncommitted = None;
            }
        }
    }

    /// Creates the reserve again, if it is missing and there is space.
    fn restore_reserve(&mut self) {
        if !self.reserve.is_low() || self.restored_at.elapsed() < RESTORE_INTERVAL {
            return;
        }
        self.restored_at = Instant::now();
        match self.reserve.restore(&self.conn) {
            Ok(()) => info!("there is space on the disk again"),
            Err(error) => {
                debug!(%error, "could not hold back space for a full disk");
                self.reserve.forget_claim(&self.conn);
            }
        }
    }

    fn commit(&mut self, appends: &[AppendRequest]) -> rusqlite::Result<()> {
        let transaction = self.conn.unchecked_transaction()?;
        let transaction_start = self.row_index.next_row_id();
        let mut insert = event_rows::prepare_insert(&transaction)?;
        for append in appends {
            let id = append.journal.id;
            let Some(open) = self.open.get_mut(&id) else { continue };
            let RowState { range, unindexed } = open.uncommitted.get_or_insert_with(|| {
                self.touched.push(id);
                open.rows.clone()
            });
            for frame in append.frames.slices() {
                let row_id = self.row_index.allocate_row_id();
                let seq = range.insert(&mut insert, id, row_id, frame)?;
                unindexed.push(seq, row_id, frame.len() as u64);
            }
            record::apply(&transaction, id, &append.records)?;
        }
        drop(insert);
        for &id in &self.touched {
            let Some(open) = self.open.get_mut(&id) else { continue };
            let Some(RowState { range, unindexed }) = &mut open.uncommitted else { continue };
            // `expire` finds rows through the index, so all rows must be indexed before it.
            let exceeded = range.exceeds(open.retention);
            if exceeded || unindexed.is_due() {
                unindexed.write_index(&transaction, id)?;
            }
            if exceeded {
                range.expire(&transaction, id, open.retention)?;
            }
            range.trim(&transaction, id, &open.rows.range)?;
        }
        // Index as many overdue journals as there were appends: that keeps up with them, and takes no longer than they do.
        for id in self.row_index.overdue_journals(appends.len()) {
            let Some(open) = self.open.get_mut(&id) else { continue };
            let rows = open.uncommitted.get_or_insert_with(|| {
                self.touched.push(id);
                open.rows.clone()
            });
            rows.unindexed.write_index(&transaction, id)?;
        }
        let indexed_through = self.row_index.write_indexed_through(&transaction, transaction_start)?;
        let has_grown = self.reserve.claim_transaction(&transaction)?;
        transaction.commit()?;
        if has_grown {
            self.reserve.confirm();
        }
        self.row_index.set_indexed_through(indexed_through);
        Ok(())
    }

    fn open(&mut self, name: &str, retention: Retention) -> rusqlite::Result<Arc<JournalView>> {
        let (id, epoch) = self.find_or_create(name, retention)?;
        if let Some(open) = self.open.get_mut(&id) {
            open.retention = retention;
            return Ok(Arc::clone(&open.view));
        }
        let range = RowRange::load(&self.conn, id, retention)?;
        let tail_retention = Retention { bytes: retention.bytes.min(TAIL_BYTES), ..retention };
        let (tail, ring) = RingJournal::resume(epoch, range.newest(), tail_retention);
        let view =
            Arc::new(JournalView { id, row_range: Mutex::new(range), tail: ring, deleted: false.into() });
        self.close_unused();
        let rows = RowState { range, unindexed: UnindexedRows::default() };
        let open = OpenJournal { view: Arc::clone(&view), tail, retention, rows, uncommitted: None };
        self.open.insert(id, open);
        Ok(view)
    }

    fn find_or_create(&self, name: &str, retention: Retention) -> rusqlite::Result<(i64, Epoch)> {
        let (events, bytes) = (retention.events.get() as i64, retention.bytes.get() as i64);
        // One statement finds the journal or creates it, and stores a changed retention.
        let upsert = "INSERT INTO journals (name, epoch, keep_events, keep_bytes) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (name) DO UPDATE SET keep_events = ?3, keep_bytes = ?4 RETURNING id, epoch";
        let epoch = Epoch::random().to_bits().get() as i64;
        self.conn.prepare_cached(upsert)?.query_row((name, epoch, events, bytes), |row| {
            let bits = NonZeroU64::new(row.get::<_, i64>(1)? as u64);
            let bits = bits.ok_or(rusqlite::Error::IntegralValueOutOfRange(1, 0))?;
            Ok((row.get(0)?, Epoch::from_bits(bits)))
        })
    }

    /// Closes the journals that only this thread holds, now and then, to free their tails. A journal with unindexed rows
    /// stays open, as readers find these rows only in its tail.
    fn close_unused(&mut self) {
        if self.open.len() >= self.sweep_at {
            let is_needed =
                |open: &OpenJournal| Arc::strong_count(&open.view) > 1 || !open.rows.unindexed.is_empty();
            self.open.retain(|_, open| is_needed(open));
            self.sweep_at = OPEN_MIN.max(self.open.len() * 2);
        }
    }

    /// Removes the name of a journal and returns whether it existed. Its rows are removed step by step later, so that a
    /// large journal does not block the others.
    fn delete(&mut self, name: &str) -> rusqlite::Result<bool> {
        let transaction = self.conn.unchecked_transaction()?;
        let unname = "UPDATE journals SET name = NULL WHERE name = ?1 RETURNING id";
        let id: Option<i64> =
            transaction.prepare_cached(unname)?.query_row([name], |row| row.get(0)).optional()?;
        let Some(id) = id else { return Ok(false) };
        // Rows are removed through the index, so all of them must be in it.
        if let Some(open) = self.open.get(&id) {
            open.rows.unindexed.clone().write_index(&transaction, id)?;
        }
        transaction.commit()?;
        if let Some(open) = self.open.remove(&id) {
            self.row_index.update_unindexed(id, &open.rows.unindexed, &UnindexedRows::default());
            // Set the flag before any row is removed: a reader that misses a row checks it. Dropping the tail's writer
            // then ends the waiting readers.
            open.view.deleted.store(true, Ordering::Release);
        }
        self.deleted.push(id);
        self.signal.notify_write();
        Ok(true)
    }

    fn find_deleted(&self) -> rusqlite::Result<Vec<i64>> {
        let mut select = self.conn.prepare("SELECT id FROM journals WHERE name IS NULL")?;
        select.query_map([], |row| row.get(0))?.collect()
    }

    /// Removes some rows of a deleted journal.
    fn purge_deleted(&mut self) {
        let Some(&id) = self.deleted.last() else { return };
        match self.purge_step(id) {
            Ok(false) => {}
            Ok(true) => _ = self.deleted.pop(),
            Err(error) => {
                warn!(%error, "could not remove a deleted journal; trying again at the next start");
                self.deleted.pop();
            }
        }
        self.signal.notify_write();
    }

    /// Removes some rows, and the journal itself when there are none left. Returns whether the journal is gone.
    fn purge_step(&self, id: i64) -> rusqlite::Result<bool> {
        let transaction = self.conn.unchecked_transaction()?;
        let removed = event_rows::remove_oldest(&transaction, id)?;
        if !removed {
            transaction.execute("DELETE FROM notes WHERE journal = ?1", [id])?;
            transaction.execute("DELETE FROM journals WHERE id = ?1", [id])?;
        }
        transaction.commit()?;
        Ok(!removed)
    }
}

/// The size of a group of appends.
#[derive(Default)]
struct GroupSize {
    frames: u64,
    bytes: u64,
}

impl GroupSize {
    fn measure(appends: &[AppendRequest]) -> Self {
        let mut size = Self::default();
        for append in appends {
            size.frames += append.frames.len() as u64;
            size.bytes += append.frames.bytes().len() as u64;
        }
        size
    }
}

#[cfg(test)]
mod tests;
