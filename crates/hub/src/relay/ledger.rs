//! What was asked of devices and what came of it: entries that hold on to each other, in a journal on disk.
//!
//! A request has two entries of one `id`: one before it leaves, one when it has ended. The entry before a request that changes
//! something is written before the request leaves. Before a request that only reads it is on its way, in order: a hub that is
//! killed may lose the last moments of those. If nothing can be written, nothing is asked of a device.
//!
//! On a full disk requests are refused before they leave, except those that stop something. Entries that cannot be written are
//! kept and written first, in order.

use std::{
    num::NonZeroU64,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use files::private_file;
use journal::{
    FrameBuffer, JournalItem, Retention, Seq, StartPosition,
    durable::{DurableJournal, Error, JournalStore},
};
use parking_lot::Mutex;
use protocol::{
    lending::{LedgerHead, RelayAuditPage},
    relay::{
        MethodInfo, RawJson, RelayAuditEntry, RelayError, RelayErrorCode,
        audit::chain::{self, ChainHead},
    },
};
use server::ErrorChain;
use tokio::{
    sync::{mpsc, oneshot},
    task::spawn_blocking,
    time::{Instant, timeout_at},
};
use tokio_util::task::TaskTracker;
use tracing::error;

/// How much is kept.
const KEPT: Retention =
    Retention { events: NonZeroU64::new(2_000_000).unwrap(), bytes: NonZeroU64::new(1 << 30).unwrap() };

/// The name of the journal in its file.
const JOURNAL: &str = "relay";

/// How many entries may wait to be written; who comes then waits for a place.
const QUEUE_MAX: usize = 8192;

/// How many are written at once.
const BATCH_MAX: usize = 512;

/// The capacity to start an entry's JSON with: most entries have 500 to 800 bytes.
const ENTRY_BYTES: usize = 1024;

/// How long entries that nobody waits for are gathered: each write alone costs more than a small request.
const GATHERED_FOR: Duration = Duration::from_millis(5);

/// The time between two attempts to write entries that are kept.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// What was asked of devices. A clone is the same.
#[derive(Clone)]
pub(crate) struct Ledger(Arc<Inner>);

struct Inner {
    posts: Mutex<Option<mpsc::Sender<Post>>>,
    journal: DurableJournal,
    head: Mutex<Option<ChainHead>>,
    /// The last entries could not be written.
    failing: AtomicBool,
    tasks: TaskTracker,
    store: Arc<JournalStore>,
}

struct Post {
    entry: RelayAuditEntry,
    written: Option<oneshot::Sender<bool>>,
}

impl Ledger {
    /// Opens the file, or makes it. Needs a tokio runtime.
    pub(crate) async fn open(path: &Path) -> Result<Self, Error> {
        let owned = path.to_owned();
        let opened = spawn_blocking(move || {
            // A file that cannot be made is told of by the store, with its name.
            let _ = private_file::create_if_missing(&owned);
            JournalStore::open(owned)
        });
        let store = Arc::new(opened.await.map_err(|_| Error::Died)??);
        let journal = store.journal(JOURNAL, KEPT).await?;
        let head = last(&journal).await?;
        let (posts, queue) = mpsc::channel(QUEUE_MAX);
        let ledger = Self(Arc::new(Inner {
            posts: Mutex::new(Some(posts)),
            journal,
            head: Mutex::new(head),
            failing: AtomicBool::new(false),
            tasks: TaskTracker::new(),
            store,
        }));
        ledger.0.tasks.spawn(ledger.clone().write(queue));
        Ok(ledger)
    }

    /// The file, for what else is kept in it.
    pub(crate) fn store(&self) -> &Arc<JournalStore> {
        &self.0.store
    }

    /// Writes down that something is asked; once it is written if `must` be.
    ///
    /// # Errors
    /// If it cannot be written: then nothing may be asked.
    pub(crate) async fn begin(&self, entry: RelayAuditEntry, must: bool) -> Result<(), RelayError> {
        let Some(posts) = self.posts() else { return Err(unwritten()) };
        let stops = MethodInfo::find(&entry.method).is_some_and(MethodInfo::stops_running_operation);
        if self.0.failing.load(Relaxed) || self.0.store.is_low() && !stops {
            return Err(unwritten());
        }
        if !must {
            return posts.send(Post { entry, written: None }).await.map_err(|_| unwritten());
        }
        let (written, answer) = oneshot::channel();
        posts.send(Post { entry, written: Some(written) }).await.map_err(|_| unwritten())?;
        match answer.await {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(unwritten()),
        }
    }

    /// Returns when something more can be taken. Who begins something waits for this, so that no more than what goes on can be
    /// waiting to be written.
    pub(crate) async fn has_room(&self) {
        if let Some(posts) = self.posts() {
            // It fails only when the hub ends; then nothing more is asked.
            let _ = posts.reserve().await;
        }
    }

    /// Writes down what came of something, without waiting.
    pub(crate) fn end(&self, entry: RelayAuditEntry) {
        let Some(posts) = self.posts() else { return };
        if let Err(mpsc::error::TrySendError::Full(post)) = posts.try_send(Post { entry, written: None }) {
            self.0.tasks.spawn(async move {
                // It fails only when the hub ends and nothing more is written.
                let _ = posts.send(post).await;
            });
        }
    }

    /// The last entry.
    pub(crate) fn head(&self) -> LedgerHead {
        let head = self.0.head.lock().clone();
        LedgerHead { seq: head.as_ref().map(|head| head.seq), hash: head.map(|head| head.hash) }
    }

    /// The entries after `offset`, the oldest first, as they were written.
    pub(crate) async fn page(&self, offset: u64, limit: usize) -> Result<RelayAuditPage, Error> {
        let journal = &self.0.journal;
        let (newest, mut at, mut items) = (journal.bounds().newest, Seq::new(offset), Vec::new());
        if at < newest {
            // A bare number opens a reader whatever it is.
            let Ok(mut reader) = journal.reader(StartPosition::Resume(at)) else { return Err(Error::Died) };
            while at < newest && items.len() < limit {
                match reader.next().await? {
                    None => break,
                    // What is no longer kept is passed over: the numbers tell.
                    Some(JournalItem::Gap(gap)) => at = gap.oldest.before(),
                    Some(JournalItem::Frames(chunk)) => {
                        for (seq, frame) in chunk.frames().take(limit - items.len()) {
                            at = seq;
                            items.extend(serde_json::from_slice::<RawJson>(&frame).ok());
                        }
                    }
                }
            }
        }
        let next_cursor = (at < newest).then(|| at.to_string());
        Ok(RelayAuditPage { items, next_cursor })
    }

    /// Waits until everything is written.
    pub(crate) async fn close(&self) {
        drop(self.0.posts.lock().take());
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    fn posts(&self) -> Option<mpsc::Sender<Post>> {
        self.0.posts.lock().clone()
    }

    /// Writes what is posted, as many at once as there are.
    async fn write(self, mut queue: mpsc::Receiver<Post>) {
        let mut batch = Vec::with_capacity(BATCH_MAX);
        while gather(&mut queue, &mut batch).await {
            let (entries, waiting): (Vec<_>, Vec<_>) =
                batch.drain(..).map(|post| (post.entry, post.written)).unzip();
            match self.append(entries).await {
                Ok(()) => answer(waiting, true),
                Err(entries) => {
                    // Requests that did not wait have left, so their entries must not be lost.
                    let sent = entries.into_iter().zip(&waiting).filter(|(_, waiting)| waiting.is_none());
                    let kept = sent.map(|(entry, _)| entry).collect();
                    answer(waiting, false);
                    self.write_kept(kept, &mut queue).await;
                }
            }
        }
    }

    /// Writes entries that could not be written, as soon as that is possible. Meanwhile nothing may begin; the ends of what
    /// goes on are kept too.
    async fn write_kept(&self, mut kept: Vec<RelayAuditEntry>, queue: &mut mpsc::Receiver<Post>) {
        self.0.failing.store(true, Relaxed);
        loop {
            while let Ok(post) = queue.try_recv() {
                match post.written {
                    Some(written) => drop(written.send(false)),
                    None => kept.push(post.entry),
                }
            }
            match self.append(kept).await {
                Ok(()) => break,
                Err(entries) => kept = entries,
            }
            if self.posts().is_none() {
                error!(entries = kept.len(), "the hub ends and loses entries of the device audit log");
                return;
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
        self.0.failing.store(false, Relaxed);
    }

    /// Appends entries to the chain. Returns them if they cannot be written.
    async fn append(&self, entries: Vec<RelayAuditEntry>) -> Result<(), Vec<RelayAuditEntry>> {
        if entries.is_empty() {
            return Ok(());
        }
        let head = self.0.head.lock().clone();
        // Not where requests are served, as there may be hundreds. It fails only when the runtime ends.
        let chained = spawn_blocking(move || chained(head, entries)).await;
        let Ok((frames, head)) = chained else { return Ok(()) };
        match self.0.journal.append(frames.clone()).await {
            Ok(_) => {
                *self.0.head.lock() = head;
                Ok(())
            }
            Err(error) => {
                error!(error = %ErrorChain(&error), "could not write the device audit log; the entries are kept");
                let frames = (0..frames.len()).map(|at| frames.frame(at));
                Err(frames.filter_map(|frame| serde_json::from_slice(&frame).ok()).collect())
            }
        }
    }
}

/// Tells those who wait whether their entries are written. Whoever asked may be gone.
fn answer(waiting: Vec<Option<oneshot::Sender<bool>>>, written: bool) {
    for waiting in waiting.into_iter().flatten() {
        let _ = waiting.send(written);
    }
}

/// The entries as they are written, each with its place in the chain, and the last of them.
fn chained(mut head: Option<ChainHead>, entries: Vec<RelayAuditEntry>) -> (FrameBuffer, Option<ChainHead>) {
    let frames = entries.into_iter().map(|entry| {
        let mut json = Vec::with_capacity(ENTRY_BYTES);
        head = Some(chain::append(head.as_ref(), entry, &mut json));
        json
    });
    (frames.collect(), head)
}

/// Takes what is posted; whether there is something. If nobody waits for it, what comes soon after is taken with it.
async fn gather(queue: &mut mpsc::Receiver<Post>, batch: &mut Vec<Post>) -> bool {
    if queue.recv_many(batch, BATCH_MAX).await == 0 {
        return false;
    }
    let until = Instant::now() + GATHERED_FOR;
    while batch.len() < BATCH_MAX && batch.iter().all(|post| post.written.is_none()) {
        match timeout_at(until, queue.recv_many(batch, BATCH_MAX - batch.len())).await {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
    }
    true
}

/// The last entry of a journal.
async fn last(journal: &DurableJournal) -> Result<Option<ChainHead>, Error> {
    let newest = journal.bounds().newest;
    if newest == Seq::new(0) {
        return Ok(None);
    }
    let Ok(mut reader) = journal.reader(StartPosition::Resume(newest.before())) else {
        return Err(Error::Died);
    };
    let Some(JournalItem::Frames(chunk)) = reader.next().await? else { return Ok(None) };
    let entry =
        chunk.frames().last().and_then(|(_, frame)| serde_json::from_slice::<RelayAuditEntry>(&frame).ok());
    Ok(entry.and_then(|entry| Some(ChainHead { seq: entry.seq?, hash: entry.hash? })))
}

fn unwritten() -> RelayError {
    RelayError::new(
        RelayErrorCode::ProviderError,
        "the hub could not write its audit log, so the request was not sent to the device",
    )
    .with("reason", "audit")
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use serde_json::json;
    use testkit::{TmpfsMount, fill_disk, free_disk};

    use super::*;

    fn entry(number: usize) -> RelayAuditEntry {
        serde_json::from_value(json!({
            "id": format!("aud_{number}"), "connection_id": "c", "client_id": "laptop", "method": "file.read",
            "capability": "fileops", "policy_decision": "allowed", "started_at": "2026-01-01T00:00:00Z",
        }))
        .unwrap()
    }

    /// What nobody waits for is written with what comes soon after, in order, and holds up nobody who waits.
    #[tokio::test(start_paused = true)]
    async fn what_nobody_waits_for_is_gathered() {
        let (posts, mut queue) = mpsc::channel(16);
        let post = |number, written| Post { entry: entry(number), written };
        let mut batch = Vec::new();
        posts.send(post(0, None)).await.unwrap();
        let soon = async {
            tokio::time::sleep(GATHERED_FOR / 2).await;
            posts.send(post(1, None)).await.unwrap();
        };
        assert!(tokio::join!(gather(&mut queue, &mut batch), soon).0);
        assert_eq!(batch.drain(..).map(|post| post.entry.id).collect::<Vec<_>>(), ["aud_0", "aud_1"]);

        let (written, _waits) = oneshot::channel();
        posts.send(post(2, None)).await.unwrap();
        posts.send(post(3, Some(written))).await.unwrap();
        let since = Instant::now();
        assert!(gather(&mut queue, &mut batch).await);
        assert_eq!((batch.drain(..).count(), since.elapsed()), (2, Duration::ZERO));
        drop(posts);
        assert!(!gather(&mut queue, &mut batch).await);
    }

    /// While nothing more can be taken nobody begins anything, so that what waits to be written is bounded by what goes on; and
    /// all of it is written in the end.
    #[tokio::test]
    async fn nothing_is_begun_while_there_is_no_room() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(&directory.path().join("audit.db")).await.unwrap();
        let (posts, mut queue) = mpsc::channel(2);
        ledger.0.posts.lock().replace(posts);
        ledger.has_room().now_or_never().unwrap();
        for number in 0..4 {
            ledger.end(entry(number));
        }
        assert!(ledger.has_room().now_or_never().is_none());
        let mut written = Vec::new();
        for _ in 0..4 {
            written.push(queue.recv().await.unwrap().entry.id);
        }
        written.sort();
        assert_eq!(written, ["aud_0", "aud_1", "aud_2", "aud_3"]);
        ledger.has_room().now_or_never().unwrap();
    }

    /// relay-154: whatever leaves is on record whenever the disk fills, also a read; something that runs can be stopped on a
    /// full disk; and the chain holds.
    #[tokio::test(flavor = "multi_thread")]
    async fn nothing_leaves_without_an_entry_on_a_full_disk() {
        let directory = tempfile::tempdir().unwrap();
        let disk = directory.path();
        let Some(_mounted) = TmpfsMount::new(disk, 16 << 20) else {
            eprintln!(
                "SKIPPED: nothing_leaves_without_an_entry_on_a_full_disk needs the right to mount a tmpfs"
            );
            return;
        };
        let ledger = Ledger::open(&disk.join("audit.db")).await.unwrap();
        let (mut begun, mut refused) = (Vec::new(), 0);
        for number in 0..20_000 {
            if number == 10 {
                fill_disk(disk);
            }
            let entry = entry(number);
            // Half of them only read, and do not wait.
            match ledger.begin(entry.clone(), number % 2 == 0).await {
                Ok(()) => {
                    begun.push(entry.id.clone());
                    ledger.end(RelayAuditEntry { completed_at: Some(entry.started_at), ..entry });
                }
                Err(_) => refused += 1,
            }
            if refused == 400 {
                break;
            }
        }
        assert_eq!(refused, 400, "a full disk refuses");
        let stop = RelayAuditEntry { method: "shell.cancel".into(), ..entry(20_000) };
        ledger.begin(stop, true).await.unwrap();
        begun.push("aud_20000".into());
        free_disk(disk);
        while ledger.begin(entry(20_001), true).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        ledger.close().await;
        let page = ledger.page(0, 100_000).await.unwrap();
        let entries: Vec<serde_json::Value> = page.items.iter().map(|item| item.read().unwrap()).collect();
        let ids: Vec<_> = entries.iter().map(|entry| entry["id"].as_str().unwrap()).collect();
        let unrecorded: Vec<_> = begun.iter().filter(|id| !ids.contains(&id.as_str())).collect();
        assert!(unrecorded.is_empty(), "{} of {} begun: {unrecorded:?}", unrecorded.len(), begun.len());
        let ended = entries.iter().filter(|entry| entry.get("completed_at").is_some()).count();
        assert_eq!(ended, begun.len() - 1);
        chain::verify(&entries).unwrap();
    }
}
