//! The one thread that writes.

use std::{
    collections::HashMap,
    io,
    num::NonZeroU64,
    sync::{Arc, atomic::Ordering},
    thread::{self, JoinHandle},
    time::Instant,
};

use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension};
use tokio::sync::mpsc;
use tracing::warn;

use super::{
    Error, Metrics, checkpoint,
    checkpoint::Signal,
    handle::Shared,
    ledger::{self, Marks},
    note,
    places::{Places, Waiting},
    queue::{Request, Work},
};
use crate::{Epoch, Retention, Ring, Writer as Tail};

/// The most requests that become one transaction.
const GROUP_MAX: usize = 1024;

/// How much of each open journal's end is kept in memory for its readers: with what else an event takes, two hundred
/// journals that are all written to stay below 300 MB.
pub(super) const TAIL_BYTES: NonZeroU64 = NonZeroU64::new(512 * 1024).unwrap();

/// Below so many open journals none is looked at whether it can be closed.
const OPEN_MIN: usize = 64;

/// Starts the thread; it ends when it is told to, or when nobody can ask it any more.
pub(super) fn start(
    conn: Connection,
    places: Places,
    requests: mpsc::Receiver<Request>,
    signal: Arc<Signal>,
    metrics: Metrics,
) -> io::Result<JoinHandle<()>> {
    let writer = Writer::new(conn, places, requests, signal, metrics);
    thread::Builder::new().name("journal".into()).spawn(move || writer.run())
}

struct Writer {
    conn: Connection,
    places: Places,
    requests: mpsc::Receiver<Request>,
    signal: Arc<Signal>,
    metrics: Metrics,
    open: HashMap<i64, Open>,
    /// The journals that the transaction under way changes.
    touched: Vec<i64>,
    /// When there are so many open journals, those that nobody holds are closed.
    sweep_at: usize,
    /// Deleted journals that still have rows.
    doomed: Vec<i64>,
    closing: bool,
}

/// A journal that somebody may append to or read.
struct Open {
    shared: Arc<Shared>,
    tail: Tail,
    retention: Retention,
    /// As committed and published.
    rows: Rows,
    /// As the transaction under way will leave it.
    draft: Option<Rows>,
}

/// The rows of a journal.
#[derive(Debug, Clone)]
struct Rows {
    marks: Marks,
    waiting: Waiting,
}

impl Writer {
    fn new(
        conn: Connection,
        places: Places,
        requests: mpsc::Receiver<Request>,
        signal: Arc<Signal>,
        metrics: Metrics,
    ) -> Self {
        let (open, touched, doomed) = (HashMap::new(), Vec::new(), Vec::new());
        let (sweep_at, closing) = (OPEN_MIN, false);
        Self { conn, places, requests, signal, metrics, open, touched, sweep_at, doomed, closing }
    }

    fn run(mut self) {
        self.doomed = self.nameless().unwrap_or_default();
        let mut group = Vec::with_capacity(GROUP_MAX);
        while !self.closing && self.receive(&mut group) {
            self.work(&mut group);
            self.bury();
            if self.signal.take_overgrown()
                && let Err(error) = checkpoint::copy(&self.conn)
            {
                warn!(%error, "could not copy the write-ahead log");
            }
        }
        // Not `recv` until it is empty: that would wait for senders that may be on the thread which waits for us.
        self.requests.close();
        while let Ok(request) = self.requests.try_recv() {
            group.push(request);
        }
        self.work(&mut group);
    }

    /// Fills `group`, waiting for at least one request unless there is other work; false when none can come.
    fn receive(&mut self, group: &mut Vec<Request>) -> bool {
        if self.doomed.is_empty() {
            return self.requests.blocking_recv_many(group, GROUP_MAX) > 0;
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

    /// Does what was asked, in that order; appends that follow each other share a transaction.
    fn work(&mut self, group: &mut Vec<Request>) {
        let mut appends = Vec::with_capacity(group.len());
        for request in group.drain(..) {
            if let Request::Append(append) = request {
                appends.push(append);
                continue;
            }
            self.append(&mut appends);
            // Whoever asked may have gone: then nobody needs the answer.
            match request {
                Request::Append(_) => {}
                Request::Open { name, retention, reply } => {
                    let _ = reply.send(self.open(&name, retention).map_err(Error::write));
                }
                Request::Delete { name, reply } => {
                    let _ = reply.send(self.delete(&name).map_err(Error::write));
                }
                Request::Close => self.closing = true,
            }
        }
        self.append(&mut appends);
    }

    /// Commits, then publishes, then answers.
    fn append(&mut self, appends: &mut Vec<Work>) {
        if appends.is_empty() {
            return;
        }
        let started = Instant::now();
        let committed = self.commit(appends).map_err(Error::write);
        match &committed {
            Ok(()) => {
                let (frames, bytes) = amount(appends);
                self.metrics.committed(frames, bytes, started.elapsed());
            }
            Err(_) => self.metrics.failed(),
        }
        for id in self.touched.drain(..) {
            let Some(open) = self.open.get_mut(&id) else { continue };
            if let Some(draft) = open.draft.take()
                && committed.is_ok()
            {
                self.places.change(id, &open.rows.waiting, &draft.waiting);
                open.rows = draft;
                *open.shared.marks.lock() = open.rows.marks;
            }
        }
        for Work { journal, frames, reply, .. } in appends.drain(..) {
            let answer = match (&committed, self.open.get_mut(&journal.id)) {
                (Err(error), _) => Err(error.clone()),
                (Ok(()), None) => Err(Error::Deleted),
                (Ok(()), Some(open)) => Ok(open.tail.append(frames)),
            };
            let _ = reply.send(answer);
        }
        self.signal.wrote();
    }

    fn commit(&mut self, appends: &[Work]) -> rusqlite::Result<()> {
        let transaction = self.conn.unchecked_transaction()?;
        let begun = self.places.next();
        let mut insert = ledger::insert(&transaction)?;
        for append in appends {
            let id = append.journal.id;
            let Some(open) = self.open.get_mut(&id) else { continue };
            let Rows { marks, waiting } = open.draft.get_or_insert_with(|| {
                self.touched.push(id);
                open.rows.clone()
            });
            for frame in append.frames.slices() {
                let row = self.places.name();
                let seq = marks.insert(&mut insert, id, row, frame)?;
                waiting.push(seq, row, frame.len() as u64);
            }
            note::write(&transaction, id, &append.notes)?;
        }
        drop(insert);
        for &id in &self.touched {
            let Some(open) = self.open.get_mut(&id) else { continue };
            let Some(Rows { marks, waiting }) = &mut open.draft else { continue };
            let full = marks.exceeds(open.retention);
            if full || waiting.is_due() {
                waiting.place(&transaction, id)?;
            }
            if full {
                marks.expire(&transaction, id, open.retention)?;
            }
            marks.trim(&transaction, id, &open.rows.marks)?;
        }
        // As many as rows were added: so it keeps up with them, and takes no longer than they do.
        for id in self.places.overdue(appends.len()) {
            let Some(open) = self.open.get_mut(&id) else { continue };
            let draft = open.draft.get_or_insert_with(|| {
                self.touched.push(id);
                open.rows.clone()
            });
            draft.waiting.place(&transaction, id)?;
        }
        let noted = self.places.note(&transaction, begun)?;
        transaction.commit()?;
        self.places.set_noted(noted);
        Ok(())
    }

    fn open(&mut self, name: &str, retention: Retention) -> rusqlite::Result<Arc<Shared>> {
        let (id, epoch) = self.find_or_create(name, retention)?;
        if let Some(open) = self.open.get_mut(&id) {
            open.retention = retention;
            return Ok(Arc::clone(&open.shared));
        }
        let marks = Marks::load(&self.conn, id, retention)?;
        let kept = Retention { bytes: retention.bytes.min(TAIL_BYTES), ..retention };
        let (tail, ring) = Ring::resume(epoch, marks.newest(), kept);
        let shared = Arc::new(Shared { id, marks: Mutex::new(marks), tail: ring, deleted: false.into() });
        self.sweep();
        let rows = Rows { marks, waiting: Waiting::default() };
        self.open.insert(id, Open { shared: Arc::clone(&shared), tail, retention, rows, draft: None });
        Ok(shared)
    }

    fn find_or_create(&self, name: &str, retention: Retention) -> rusqlite::Result<(i64, Epoch)> {
        let (events, bytes) = (retention.events.get() as i64, retention.bytes.get() as i64);
        // One statement finds it, creates it, and notes a changed retention.
        let upsert = "INSERT INTO journals (name, epoch, keep_events, keep_bytes) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (name) DO UPDATE SET keep_events = ?3, keep_bytes = ?4 RETURNING id, epoch";
        let epoch = Epoch::random().to_bits().get() as i64;
        self.conn.prepare_cached(upsert)?.query_row((name, epoch, events, bytes), |row| {
            let bits = NonZeroU64::new(row.get::<_, i64>(1)? as u64);
            let bits = bits.ok_or(rusqlite::Error::IntegralValueOutOfRange(1, 0))?;
            Ok((row.get(0)?, Epoch::from_bits(bits)))
        })
    }

    /// Closes the journals that nobody holds, now and then, so that old tails do not pile up. What has no place yet is
    /// only in the tail.
    fn sweep(&mut self) {
        if self.open.len() >= self.sweep_at {
            let is_needed =
                |open: &Open| Arc::strong_count(&open.shared) > 1 || !open.rows.waiting.is_empty();
            self.open.retain(|_, open| is_needed(open));
            self.sweep_at = OPEN_MIN.max(self.open.len() * 2);
        }
    }

    /// Takes the journal's name away; its rows go bit by bit. Answers whether it was there.
    fn delete(&mut self, name: &str) -> rusqlite::Result<bool> {
        let transaction = self.conn.unchecked_transaction()?;
        let unname = "UPDATE journals SET name = NULL WHERE name = ?1 RETURNING id";
        let id: Option<i64> =
            transaction.prepare_cached(unname)?.query_row([name], |row| row.get(0)).optional()?;
        let Some(id) = id else { return Ok(false) };
        if let Some(open) = self.open.get(&id) {
            open.rows.waiting.clone().place(&transaction, id)?;
        }
        transaction.commit()?;
        if let Some(open) = self.open.remove(&id) {
            self.places.change(id, &open.rows.waiting, &Waiting::default());
            // Before any row goes: a reader that misses one must see why. Dropping the tail's writer ends it.
            open.shared.deleted.store(true, Ordering::Release);
        }
        self.doomed.push(id);
        self.signal.wrote();
        Ok(true)
    }

    fn nameless(&self) -> rusqlite::Result<Vec<i64>> {
        let mut select = self.conn.prepare("SELECT id FROM journals WHERE name IS NULL")?;
        select.query_map([], |row| row.get(0))?.collect()
    }

    /// Removes some rows of a deleted journal.
    fn bury(&mut self) {
        let Some(&id) = self.doomed.last() else { return };
        match self.bury_some(id) {
            Ok(false) => {}
            Ok(true) => _ = self.doomed.pop(),
            Err(error) => {
                warn!(%error, "could not remove a deleted journal; it is tried again at the next start");
                self.doomed.pop();
            }
        }
        self.signal.wrote();
    }

    /// Whether nothing is left of it.
    fn bury_some(&self, id: i64) -> rusqlite::Result<bool> {
        let transaction = self.conn.unchecked_transaction()?;
        let removed = ledger::remove_some(&transaction, id)?;
        if !removed {
            transaction.execute("DELETE FROM notes WHERE journal = ?1", [id])?;
            transaction.execute("DELETE FROM journals WHERE id = ?1", [id])?;
        }
        transaction.commit()?;
        Ok(!removed)
    }
}

/// How many frames there are, and bytes in them.
fn amount(appends: &[Work]) -> (u64, u64) {
    let frames = appends.iter().flat_map(|append| append.frames.slices());
    frames.fold((0, 0), |(frames, bytes), frame| (frames + 1, bytes + frame.len() as u64))
}

#[cfg(test)]
mod tests;
