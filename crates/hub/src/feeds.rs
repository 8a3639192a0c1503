//! All workers that are watched.

use std::{collections::HashMap, sync::Arc};

use journal::Retention;
use parking_lot::Mutex;
use prometheus_client::registry::Registry;
use protocol::{RuntimeId, SessionId, observation::StreamControl};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Pace, Runtime, SigningKey, Watch,
    feed::Feed,
    metrics::{Fill, Metrics},
};

/// How many workers are followed at a time; of each some megabytes are kept at most.
const FEEDS_MAX: usize = 4096;

type Name = (RuntimeId, SessionId);

/// No more workers can be followed now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the limit of {FEEDS_MAX} watched workers is reached; try again later")]
pub struct TooMany;

/// All workers that are watched, each followed once.
#[derive(Clone)]
pub struct Feeds {
    key: SigningKey,
    backlog: Retention,
    pace: Pace,
    all: Arc<Mutex<HashMap<Name, Arc<Feed>>>>,
    tasks: TaskTracker,
    stop: CancellationToken,
    metrics: Metrics,
}

impl Feeds {
    /// None yet; cursors are sealed with `key`, and of each so much is kept.
    pub fn new(key: SigningKey, backlog: Retention) -> Self {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let (pace, metrics) = (Pace::default(), Metrics::default());
        Self { key, backlog, pace, all: Arc::default(), tasks, stop, metrics }
    }

    /// The same, with another patience.
    #[must_use]
    pub fn with_pace(self, pace: Pace) -> Self {
        Self { pace, ..self }
    }

    /// Watches a worker of a runtime, after `cursor` if there is one. Needs a tokio runtime.
    ///
    /// # Errors
    /// If nobody watches it yet and too many others are watched.
    pub fn watch(
        &self,
        (id, runtime): (&RuntimeId, Arc<dyn Runtime>),
        worker: &SessionId,
        cursor: Option<String>,
    ) -> Result<Watch, TooMany> {
        let mut all = self.all.lock();
        let name = (id.clone(), worker.clone());
        loop {
            if all.len() >= FEEDS_MAX && !all.contains_key(&name) {
                return Err(TooMany);
            }
            let feed = all.entry(name.clone()).or_insert_with(|| {
                let feed = Arc::new(Feed::new(
                    (self.key.clone(), self.backlog, self.metrics.clone()),
                    id.clone(),
                    worker.clone(),
                    cursor.as_deref(),
                ));
                self.tasks.spawn(self.clone().follow(Arc::clone(&feed), Arc::clone(&runtime)));
                feed
            });
            if let Some(feed) = feed.subscribe() {
                return Ok(Watch::new(feed, cursor));
            }
            // The feed was closed because it was idle, and its task waits for this lock to remove it. A new one takes its place.
            all.remove(&name);
        }
    }

    /// Tells those who watch a worker something about it, if anybody does.
    pub(crate) fn tell(&self, runtime: &RuntimeId, worker: &SessionId, told: impl FnOnce() -> StreamControl) {
        let feed = self.all.lock().get(&(runtime.clone(), worker.clone())).cloned();
        if let Some(feed) = feed {
            feed.tell_control(told());
        }
    }

    /// Ends those of a runtime that is no longer known.
    pub fn forget(&self, runtime: &RuntimeId) {
        self.all.lock().retain(|(of, _), feed| {
            let keep = of != runtime;
            if !keep {
                feed.dismiss();
            }
            keep
        });
    }

    /// Tells what was counted, and how it is with those that are followed.
    pub(crate) fn register(&self, registry: &mut Registry) {
        self.metrics.register(registry);
        let mut fill = Fill::default();
        for feed in self.all.lock().values() {
            feed.count(&mut fill);
        }
        fill.register(registry, self.backlog);
    }

    /// How many workers are followed.
    pub fn len(&self) -> usize {
        self.all.lock().len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    async fn follow(self, feed: Arc<Feed>, runtime: Arc<dyn Runtime>) {
        tokio::select! {
            () = feed.follow(&*runtime, &self.pace) => self.remove(&feed),
            () = feed.subscribers.close_when_idle(self.pace.linger) => self.remove(&feed),
            () = feed.dismissed() => {}
            () = self.stop.cancelled() => feed.seal(),
        }
    }

    /// Ends all of them: those who watch read what there is, and no more.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Removes a feed, unless another has taken its place. The next viewer gets a new one.
    fn remove(&self, feed: &Arc<Feed>) {
        let mut all = self.all.lock();
        let name = (feed.runtime.clone(), feed.worker.clone());
        if all.get(&name).is_some_and(|known| Arc::ptr_eq(known, feed)) {
            all.remove(&name);
        }
    }
}

impl std::fmt::Debug for Feeds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Feeds").field("len", &self.len()).finish_non_exhaustive()
    }
}
