//! The requests of the peer.

use std::{collections::HashMap, future::pending, sync::Arc};

use protocol::relay::{Family, RawJson, RelayError, RelayErrorCode};
use tokio::{
    sync::Semaphore,
    task::{AbortHandle, JoinSet},
    time::Instant,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    held::{Gauge, Weight},
    limits::WINDOW_BYTES_MAX,
    peer::{Shared, cancelled},
    reply::Allowance,
};

/// The requests of the peer that have no outcome yet, and the tasks that handle them.
pub(super) struct Requests {
    running: HashMap<u64, Running>,
    keys: HashMap<String, u64>,
    last: u64,
    tasks: JoinSet<()>,
    /// The parent of the cancellation tokens of all requests.
    root: CancellationToken,
    _guard: DropGuard,
    gauge: Gauge,
}

struct Running {
    id: String,
    /// The family of its method; `None` for an unknown method.
    family: Option<Family>,
    cancel: CancellationToken,
    /// When it is dropped after a cancellation.
    grace: Option<Instant>,
    credit: Option<Allowance>,
    task: Option<AbortHandle>,
    _weight: Weight,
}

impl Requests {
    pub(super) fn new(shared: &Shared) -> Self {
        let root = CancellationToken::new();
        Self {
            running: HashMap::new(),
            keys: HashMap::new(),
            last: 0,
            tasks: JoinSet::new(),
            _guard: root.clone().drop_guard(),
            root,
            gauge: shared.gauges.requests.clone(),
        }
    }

    /// A token that is cancelled when the connection is lost.
    pub(super) fn connection(&self) -> CancellationToken {
        self.root.clone()
    }

    pub(super) fn len(&self) -> usize {
        self.running.len()
    }

    /// The number of requests of a family.
    pub(super) fn of(&self, family: Family) -> usize {
        self.running.values().filter(|running| running.family == Some(family)).count()
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.keys.contains_key(id)
    }

    /// Adds a request; returns its key, its cancellation token and its credit.
    pub(super) fn insert(
        &mut self,
        id: &str,
        family: Option<Family>,
        window: Option<u64>,
    ) -> (u64, CancellationToken, Option<Allowance>) {
        self.last += 1;
        let key = self.last;
        let cancel = self.root.child_token();
        let credit = window.map(|window| {
            let permits = usize::try_from(window).unwrap_or(WINDOW_BYTES_MAX);
            Allowance { left: Arc::new(Semaphore::new(permits)), window }
        });
        let running = Running {
            id: id.to_owned(),
            family,
            cancel: cancel.clone(),
            grace: None,
            credit: credit.clone(),
            task: None,
            _weight: self.gauge.add(1),
        };
        self.running.insert(key, running);
        self.keys.insert(id.to_owned(), key);
        (key, cancel, credit)
    }

    /// Runs a task, for a request if it has a key.
    pub(super) fn spawn(&mut self, key: Option<u64>, work: impl Future<Output = ()> + Send + 'static) {
        let task = self.tasks.spawn(work);
        if let Some(running) = key.and_then(|key| self.running.get_mut(&key)) {
            running.task = Some(task);
        }
    }

    /// Adds credit to the stream of a request, which may have ended meanwhile.
    pub(super) fn credit(&self, id: &str, bytes: u64) {
        let credit = self.keys.get(id).and_then(|key| self.running.get(key)?.credit.as_ref());
        let Some(Allowance { left, window }) = credit else { return };
        // Credit never exceeds the window, or a faulty peer could remove the limit.
        let missing = window.saturating_sub(left.available_permits() as u64);
        left.add_permits(usize::try_from(bytes.min(missing)).unwrap_or(0));
    }

    /// Cancels a request; returns its key, the first time.
    pub(super) fn cancel(&mut self, id: &str, grace: Instant) -> Option<u64> {
        let key = *self.keys.get(id)?;
        let running = self.running.get_mut(&key)?;
        if running.grace.is_some() {
            return None;
        }
        running.grace = Some(grace);
        running.cancel.cancel();
        Some(key)
    }

    /// Whether it is running and not cancelled.
    pub(super) fn is_wanted(&self, key: u64) -> bool {
        self.running.get(&key).is_some_and(|running| running.grace.is_none())
    }

    /// Ends a request; returns its id, the outcome to send, and the time at which it would have been dropped.
    pub(super) fn finish(
        &mut self,
        key: u64,
        outcome: Result<RawJson, RelayError>,
    ) -> Option<(String, Result<RawJson, RelayError>, Option<Instant>)> {
        let running = self.remove(key)?;
        let outcome = match outcome {
            Err(error) if error.code == RelayErrorCode::Cancelled => Err(error),
            // The operation may continue on a peer that this side has lost.
            Err(error)
                if running.grace.is_some()
                    && (error.is_lost() || error.code == RelayErrorCode::RelayDisconnected) =>
            {
                Err(cancelled().with("lost", true))
            }
            _ if running.grace.is_some() => Err(cancelled()),
            outcome => outcome,
        };
        Some((running.id, outcome, running.grace))
    }

    /// Drops a request that has not ended in time after its cancellation; returns its id and the error to send.
    pub(super) fn drop_late(&mut self, key: u64) -> Option<(String, RelayError)> {
        let running = self.remove(key)?;
        if let Some(task) = running.task {
            task.abort();
        }
        Some((running.id, cancelled().with("lost", true)))
    }

    /// Waits for the end of a task, so that the set does not grow.
    pub(super) async fn reaped(&mut self) {
        if self.tasks.join_next().await.is_none() {
            pending().await
        }
    }

    pub(super) fn cancel_all(&mut self) {
        self.running.clear();
        self.keys.clear();
        self.root.cancel();
    }

    /// Waits until all tasks have ended.
    pub(super) async fn ended(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }

    /// Aborts the remaining tasks.
    pub(super) async fn abort(&mut self) {
        self.tasks.shutdown().await;
    }

    fn remove(&mut self, key: u64) -> Option<Running> {
        let running = self.running.remove(&key)?;
        self.keys.remove(&running.id);
        Some(running)
    }
}
