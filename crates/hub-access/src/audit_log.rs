//! The audit log: which user did what through the hub. It is a journal on disk.

use std::{
    num::NonZeroU64,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use axum::extract::Request;
use files::private_file;
use http::StatusCode;
use jiff::Timestamp;
use journal::{
    FrameBuffer, JournalItem, Retention, Seq, StartPosition,
    durable::{DurableJournal, Error, ErrorCause, JournalStore},
};
use protocol::audit::{AuditEntry, AuditPage, AuditRecord};
use server::{ErrorChain, PeerAddress};
use tokio::{runtime::Handle, task::JoinHandle};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::error;

use crate::{access_request::AccessRequest, principal::Principal};

/// How many entries are retained.
const RETENTION: Retention =
    Retention { events: NonZeroU64::new(200_000).unwrap(), bytes: NonZeroU64::new(128 << 20).unwrap() };

/// How much of a path is stored.
const PATH_CHARS_MAX: usize = 512;

/// The action of an entry about a peer of the relay that violated the protocol.
const VIOLATION: &str = "relay.violation";

/// The action of an entry about a recovered token that is used for the first time.
const RECOVERY: &str = "tokens.recover";

/// The name of the journal in its file.
const JOURNAL: &str = "audit";

/// How many refusals are recorded while the disk is full. Anyone can cause refusals, and the reserve of the log is for what is
/// done.
const REFUSALS_WHILE_LOW_MAX: u32 = 256;

/// How long a caller waits for an entry that cannot be written at once. The entry is kept after that.
const WRITE_WAIT_MAX: Duration = Duration::from_millis(500);

/// The time between two attempts to write an entry that is kept.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// The log. Clones share it.
#[derive(Clone)]
pub struct AuditLog {
    journal: DurableJournal,
    /// Writes entries whose requests may be gone before they are written.
    tasks: TaskTracker,
    /// Runs these tasks. A request can be dropped on a thread that has no runtime.
    runtime: Handle,
    /// Keeps the journal's file open.
    store: Arc<JournalStore>,
    shared: Arc<SharedCounts>,
    /// Ends the attempts to write entries that are kept.
    closing: CancellationToken,
}

#[derive(Default)]
struct SharedCounts {
    /// The entries that could not be written yet.
    kept: AtomicU32,
    /// The refusals that were recorded since the disk is full.
    refusals: AtomicU32,
}

impl AuditLog {
    /// Opens the log, or creates it.
    pub async fn open(path: &Path) -> Result<Self, Error> {
        let owned = path.to_owned();
        let opened = tokio::task::spawn_blocking(move || {
            // If this fails, opening the store fails too, with an error that names the file.
            let _ = private_file::create_if_missing(&owned);
            JournalStore::open(owned)
        });
        let store = opened.await.map_err(|_| Error::Died)??;
        let journal = store.journal(JOURNAL, RETENTION).await?;
        Ok(Self {
            journal,
            tasks: TaskTracker::new(),
            runtime: Handle::current(),
            store: Arc::new(store),
            shared: Arc::default(),
            closing: CancellationToken::new(),
        })
    }

    /// Whether the disk is full: the log has room for what ends something, and for nothing else.
    pub fn is_low(&self) -> bool {
        self.store.is_low() || self.shared.kept.load(Relaxed) > 0
    }

    /// Whether one more refusal may be recorded.
    pub(crate) fn admits_refusal(&self) -> bool {
        if !self.is_low() {
            self.shared.refusals.store(0, Relaxed);
            return true;
        }
        self.shared.refusals.fetch_add(1, Relaxed) < REFUSALS_WHILE_LOW_MAX
    }

    /// Starts an entry about a request.
    pub fn begin(&self, request: &Request, asked: &AccessRequest) -> PendingAuditEntry {
        let entry = AuditEntry {
            received_at: Timestamp::now(),
            user: None,
            token: None,
            peer: request.extensions().get().map(|PeerAddress(address)| address.ip().to_canonical()),
            action: asked.rule.action.name().to_owned(),
            runtime: asked.runtime.clone(),
            worker: asked.worker.clone(),
            method: request.method().to_string(),
            path: request.uri().path().chars().take(PATH_CHARS_MAX).collect(),
            status: None,
            duration_ms: 0,
        };
        PendingAuditEntry {
            audit: self.clone(),
            since: Instant::now(),
            entry: Some(entry),
            is_written_if_dropped: false,
        }
    }

    /// Records that a peer of the relay violated the protocol: the code and the reason that closed its WebSocket.
    pub fn violation(&self, path: &str, peer: Option<PeerAddress>, code: u16, why: &str) {
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
        if self.admits_refusal() {
            self.spawn(entry);
        }
    }

    /// Records that a token which a user with access to the hub's files recovered is used for the first time.
    pub fn recovery(&self, caller: &Principal, peer: Option<PeerAddress>, method: &str, path: &str) {
        let entry = AuditEntry {
            received_at: Timestamp::now(),
            user: Some(caller.user.clone()),
            token: Some(caller.token),
            peer: peer.map(|PeerAddress(address)| address.ip().to_canonical()),
            action: RECOVERY.to_owned(),
            runtime: None,
            worker: None,
            method: method.to_owned(),
            path: path.chars().take(PATH_CHARS_MAX).collect(),
            status: None,
            duration_ms: 0,
        };
        self.spawn(entry);
    }

    /// The entries after `offset`, the oldest first.
    pub async fn page(&self, offset: u64, limit: usize) -> Result<AuditPage, Error> {
        let (newest, mut at, mut items) = (self.journal.bounds().newest, Seq::new(offset), Vec::new());
        if at < newest {
            // A sequence number without an epoch is always accepted.
            let Ok(mut reader) = self.journal.reader(StartPosition::Resume(at)) else {
                return Err(Error::Died);
            };
            while at < newest && items.len() < limit {
                match reader.next().await? {
                    None => break,
                    // Entries that are no longer retained are skipped; the sequence numbers show it.
                    Some(JournalItem::Gap(gap)) => at = gap.oldest.before(),
                    Some(JournalItem::Frames(chunk)) => {
                        for (seq, frame) in chunk.frames().take(limit - items.len()) {
                            at = seq;
                            // An entry that cannot be parsed was written by a newer version.
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

    /// Waits until every entry is written, or cannot be.
    pub async fn close(&self) {
        self.tasks.close();
        self.closing.cancel();
        self.tasks.wait().await;
    }

    /// Writes the entry in a task of its own: exactly once, also if the request is dropped meanwhile.
    fn spawn(&self, entry: AuditEntry) -> JoinHandle<Result<(), Error>> {
        self.tasks.spawn_on(self.clone().append(entry), &self.runtime)
    }

    /// Appends the entry. While the disk is full it is kept and appended again; that keeps the log [low](Self::is_low), so
    /// there are no more such entries than requests were running.
    async fn append(self, entry: AuditEntry) -> Result<(), Error> {
        // A wire type can always be serialised.
        let frame = serde_json::to_vec(&entry).unwrap_or_default();
        let mut appended = self.journal.append(FrameBuffer::one(frame.clone())).await;
        if is_full(&appended) {
            self.shared.kept.fetch_add(1, Relaxed);
            while is_full(&appended) && !self.closing.is_cancelled() {
                let _ = tokio::time::timeout(RETRY_INTERVAL, self.closing.cancelled()).await;
                appended = self.journal.append(FrameBuffer::one(frame.clone())).await;
            }
            self.shared.kept.fetch_sub(1, Relaxed);
        }
        if let Err(error) = &appended {
            error!(error = %ErrorChain(error), action = entry.action, "could not write an audit entry");
        }
        appended.map(drop)
    }
}

fn is_full<T>(appended: &Result<T, Error>) -> bool {
    appended.as_ref().is_err_and(|error| error.cause() == ErrorCause::Full)
}

/// The result of writing an entry.
#[derive(Debug)]
pub enum AuditOutcome {
    /// It is on disk.
    Written,
    /// The disk is full, and the entry is kept in memory until it can be written.
    Kept,
    /// It is lost.
    Failed(Error),
}

/// The entry of a request that is not answered yet.
pub struct PendingAuditEntry {
    audit: AuditLog,
    since: Instant,
    entry: Option<AuditEntry>,
    is_written_if_dropped: bool,
}

impl PendingAuditEntry {
    /// Names the caller in the entry.
    pub fn set_caller(&mut self, caller: &Principal) {
        if let Some(entry) = &mut self.entry {
            (entry.user, entry.token) = (Some(caller.user.clone()), Some(caller.token));
        }
    }

    /// From now on the action may be executed, so the entry is written even if the client disconnects.
    pub fn write_even_if_dropped(&mut self) {
        self.is_written_if_dropped = true;
    }

    /// Drops the entry without writing it.
    pub fn discard(mut self) {
        self.entry = None;
    }

    /// Writes the entry with the status of the response, and returns once it is on disk or cannot be written soon.
    pub async fn write(mut self, status: StatusCode) -> AuditOutcome {
        let Some(entry) = self.take(Some(status)) else { return AuditOutcome::Written };
        match tokio::time::timeout(WRITE_WAIT_MAX, self.audit.spawn(entry)).await {
            Ok(Ok(Ok(()))) => AuditOutcome::Written,
            Ok(Ok(Err(error))) => AuditOutcome::Failed(error),
            Ok(Err(_)) => AuditOutcome::Failed(Error::Died),
            Err(_) => AuditOutcome::Kept,
        }
    }

    fn take(&mut self, status: Option<StatusCode>) -> Option<AuditEntry> {
        let mut entry = self.entry.take()?;
        entry.status = status.map(|status| status.as_u16());
        entry.duration_ms = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        Some(entry)
    }
}

impl Drop for PendingAuditEntry {
    fn drop(&mut self) {
        if self.is_written_if_dropped
            && let Some(entry) = self.take(None)
        {
            self.audit.spawn(entry);
        }
    }
}
