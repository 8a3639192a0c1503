//! What was done through the hub, and by whom: a journal on disk.

use std::{num::NonZeroU64, path::Path, sync::Arc, time::Instant};

use axum::extract::Request;
use files::private_file;
use http::StatusCode;
use jiff::Timestamp;
use journal::{
    FrameBuffer, JournalItem, Retention, Seq, StartPosition,
    durable::{DurableJournal, Error, JournalStore},
};
use protocol::audit::{AuditEntry, AuditPage, AuditRecord};
use server::{ErrorChain, PeerAddress};
use tokio::{runtime::Handle, task::JoinHandle};
use tokio_util::task::TaskTracker;
use tracing::error;

use crate::{caller::Caller, guard::Asked};

/// How much is kept.
const KEPT: Retention =
    Retention { events: NonZeroU64::new(200_000).unwrap(), bytes: NonZeroU64::new(128 << 20).unwrap() };

/// How much of a path is kept.
const PATH_CHARS_MAX: usize = 512;

/// What was done by a peer of the relay that broke a rule.
const VIOLATION: &str = "relay.violation";

/// The name of the journal in its file.
const JOURNAL: &str = "audit";

/// What was done. A clone is the same.
#[derive(Clone)]
pub(crate) struct Audit {
    journal: DurableJournal,
    /// Writes what whoever asked no longer waits for.
    tasks: TaskTracker,
    /// Where that is done; who drops a request may be anywhere.
    runtime: Handle,
    /// The journal is good for as long as this is there.
    _store: Arc<JournalStore>,
}

impl Audit {
    pub(crate) async fn open(path: &Path) -> Result<Self, Error> {
        let owned = path.to_owned();
        let opened = tokio::task::spawn_blocking(move || {
            // A file that cannot be made is told of by the store, with its name.
            let _ = private_file::create_if_missing(&owned);
            JournalStore::open(owned)
        });
        let store = opened.await.map_err(|_| Error::Died)??;
        let journal = store.journal(JOURNAL, KEPT).await?;
        Ok(Self { journal, tasks: TaskTracker::new(), runtime: Handle::current(), _store: Arc::new(store) })
    }

    /// Somebody asks for something.
    pub(crate) fn begin(&self, request: &Request, asked: &Asked) -> Pending {
        let entry = AuditEntry {
            received_at: Timestamp::now(),
            user: None,
            token: None,
            peer: request.extensions().get().map(|PeerAddress(address)| address.ip().to_canonical()),
            action: asked.verb.name.to_owned(),
            runtime: asked.runtime.clone(),
            worker: asked.worker.clone(),
            method: request.method().to_string(),
            path: request.uri().path().chars().take(PATH_CHARS_MAX).collect(),
            status: None,
            duration_ms: 0,
        };
        Pending { audit: self.clone(), since: Instant::now(), entry: Some(entry), must_be_written: false }
    }

    /// A peer of the relay broke a rule: what its WebSocket was closed with, and why.
    pub(crate) fn violation(&self, path: &str, peer: Option<PeerAddress>, code: u16, why: &str) {
        let entry = AuditEntry {
            received_at: Timestamp::now(),
            user: None,
            token: None,
            peer: peer.map(|PeerAddress(address)| address.ip().to_canonical()),
            action: VIOLATION.to_owned(),
            runtime: None,
            worker: None,
            method: "GET".to_owned(),
            path: format!("{path}: {why}").chars().take(PATH_CHARS_MAX).collect(),
            status: Some(code),
            duration_ms: 0,
        };
        self.spawn(entry);
    }

    /// The entries after `offset`, the oldest first.
    pub(crate) async fn page(&self, offset: u64, limit: usize) -> Result<AuditPage, Error> {
        let (newest, mut at, mut items) = (self.journal.bounds().newest, Seq::new(offset), Vec::new());
        if at < newest {
            // A bare number opens a reader whatever it is.
            let Ok(mut reader) = self.journal.reader(StartPosition::Resume(at)) else {
                return Err(Error::Died);
            };
            while at < newest && items.len() < limit {
                match reader.next().await? {
                    None => break,
                    // What is no longer kept is passed over: the numbers tell.
                    Some(JournalItem::Gap(gap)) => at = gap.oldest.before(),
                    Some(JournalItem::Frames(chunk)) => {
                        for (seq, frame) in chunk.frames().take(limit - items.len()) {
                            at = seq;
                            // One that cannot be read is of a newer version.
                            let entry = serde_json::from_slice(&frame).ok();
                            items.extend(entry.map(|entry| AuditRecord { seq: seq.get(), entry }));
                        }
                    }
                }
            }
        }
        let next_cursor = (at < newest).then(|| at.to_string());
        Ok(AuditPage { items, next_cursor })
    }

    /// Waits until everything is written.
    pub(crate) async fn close(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Writes it in a task of its own: once, also if whoever asked leaves meanwhile.
    fn spawn(&self, entry: AuditEntry) -> JoinHandle<Result<(), Error>> {
        self.tasks.spawn_on(self.clone().append(entry), &self.runtime)
    }

    async fn append(self, entry: AuditEntry) -> Result<(), Error> {
        // A wire type always can be serialised.
        let frame = serde_json::to_vec(&entry).unwrap_or_default();
        let appended = self.journal.append(FrameBuffer::one(frame)).await;
        if let Err(error) = &appended {
            error!(error = %ErrorChain(error), verb = entry.action, "could not write an audit entry");
        }
        appended.map(drop)
    }
}

/// Something that somebody asks for, until it is answered.
pub(crate) struct Pending {
    audit: Audit,
    since: Instant,
    entry: Option<AuditEntry>,
    must_be_written: bool,
}

impl Pending {
    /// It is known who asks.
    pub(crate) fn is_by(&mut self, caller: &Caller) {
        if let Some(entry) = &mut self.entry {
            (entry.user, entry.token) = (Some(caller.user.clone()), Some(caller.token));
        }
    }

    /// From now on it may be done, even if nobody waits for the answer any more.
    pub(crate) fn must_be_written(&mut self) {
        self.must_be_written = true;
    }

    /// Nothing is left of it.
    pub(crate) fn leave_out(mut self) {
        self.entry = None;
    }

    /// It is answered; returns once that is written down.
    pub(crate) async fn written(mut self, status: StatusCode) -> Result<(), Error> {
        let Some(entry) = self.take(Some(status)) else { return Ok(()) };
        self.audit.spawn(entry).await.map_err(|_| Error::Died)?
    }

    fn take(&mut self, status: Option<StatusCode>) -> Option<AuditEntry> {
        let mut entry = self.entry.take()?;
        entry.status = status.map(|status| status.as_u16());
        entry.duration_ms = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        Some(entry)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if self.must_be_written
            && let Some(entry) = self.take(None)
        {
            self.audit.spawn(entry);
        }
    }
}
