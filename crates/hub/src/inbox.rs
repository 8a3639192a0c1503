//! What waits for a person in all runtimes.
//!
//! While somebody listens, each runtime is followed once, and what becomes of its waits is told to all who do. Whoever
//! only looks asks the runtimes themselves: what they answered is what they were told last.

mod board;
mod listener;
mod pull;

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures_util::future::join_all;
use hub_access::{EffectiveRights, RightsWatch};
use jiff::Timestamp;
use parking_lot::Mutex;
use protocol::{
    RuntimeId, WaitId, WorkspaceName,
    inbox::{InboxWait, WaitInbox as Waiting},
    wait::{Wait, WaitList},
};
use subscribers::{SubscriberCount, Subscription};
use tokio::{
    task::{AbortHandle, JoinSet},
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{Pace, Registry, policy::CurrentPolicy, runtime::ask};
use board::{Board, oldest_first};
pub(crate) use listener::Listener;

/// How long a runtime may take to say what waits in it. Who takes longer is told to be unavailable.
const ANSWER_MAX: Duration = Duration::from_secs(2);

/// How long runtimes are followed that nobody listens to: whoever comes back soon finds everything.
const LINGER: Duration = Duration::from_secs(30);

/// What waits in all runtimes. A clone is the same.
#[derive(Clone)]
pub(crate) struct Inbox(Arc<Inner>);

struct Inner {
    registry: Arc<Registry>,
    policies: Arc<CurrentPolicy>,
    pace: Pace,
    board: Board,
    subscribers: SubscriberCount,
    /// Whether the runtimes are followed.
    is_followed: Mutex<bool>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Inbox {
    /// Of these runtimes; none is followed yet.
    pub(crate) fn new(registry: Arc<Registry>, policies: Arc<CurrentPolicy>, pace: Pace) -> Self {
        Self(Arc::new(Inner {
            registry,
            policies,
            pace,
            board: Board::new(),
            subscribers: SubscriberCount::default(),
            is_followed: Mutex::new(false),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        }))
    }

    /// What is open in the runtimes that somebody sees, as they see it, the oldest first. All are asked at once.
    pub(crate) async fn list(&self, rights: &EffectiveRights) -> Waiting {
        let all = self.0.registry.list().into_iter();
        let seen = all.filter(|(_, registered)| rights.may_watch(&registered.workspace));
        let asked = seen.map(|(id, registered)| async move {
            let answer = timeout(ANSWER_MAX, ask::<WaitList>(&*registered.runtime, "/v1/waits")).await;
            (id, registered.workspace, answer.ok().and_then(Result::ok))
        });
        let answers = join_all(asked).await;
        let policy = self.0.policies.now();
        let (mut items, mut unavailable_runtimes) = (Vec::new(), Vec::new());
        for (runtime_id, workspace, list) in answers {
            let Some(list) = list else {
                unavailable_runtimes.push(runtime_id);
                continue;
            };
            let sight = rights.visibility(&*policy, &workspace, &runtime_id);
            let waits = list.items.into_iter().filter_map(|wait| sight.wait(wait));
            items.extend(waits.map(|wait| InboxWait { runtime_id: runtime_id.clone(), wait }));
        }
        let sight = |workspace: &WorkspaceName, id: &RuntimeId| {
            rights.may_watch(workspace).then(|| rights.visibility(&*policy, workspace, id))
        };
        items.extend(self.0.board.ours(sight));
        oldest_first(&mut items);
        Waiting { items, unavailable_runtimes, next_cursor: None }
    }

    /// One wait, open or settled, in the runtimes that somebody sees and as they see it. `settled_here` is the one that waited in
    /// the hub itself.
    pub(crate) async fn find(
        &self,
        rights: &EffectiveRights,
        id: WaitId,
        settled_here: Option<InboxWait>,
    ) -> Option<InboxWait> {
        let policy = self.0.policies.now();
        let mut seen = self.0.registry.list();
        seen.retain(|(_, registered)| rights.may_watch(&registered.workspace));
        let sight = |workspace: &WorkspaceName, id: &RuntimeId| {
            rights.may_watch(workspace).then(|| rights.visibility(&*policy, workspace, id))
        };
        if let Some(open) = self.0.board.ours(sight).into_iter().find(|item| item.wait.id == id) {
            return Some(open);
        }
        if let Some(InboxWait { runtime_id, wait }) = settled_here {
            let (_, registered) = seen.iter().find(|(id, _)| *id == runtime_id)?;
            let wait = rights.visibility(&*policy, &registered.workspace, &runtime_id).wait(wait)?;
            return Some(InboxWait { runtime_id, wait });
        }
        let path = format!("/v1/waits/{id}");
        let asked = seen.into_iter().map(|(runtime_id, registered)| {
            let path = &path;
            async move {
                let wait = timeout(ANSWER_MAX, ask::<Wait>(&*registered.runtime, path)).await;
                Some((runtime_id, registered.workspace, wait.ok()?.ok()?))
            }
        });
        let found = join_all(asked).await.into_iter().flatten().next();
        let (runtime_id, workspace, wait) = found?;
        let wait = rights.visibility(&*policy, &workspace, &runtime_id).wait(wait)?;
        Some(InboxWait { runtime_id, wait })
    }

    /// Something waits in the hub itself, for a runtime of a workspace.
    pub(crate) fn open(&self, workspace: WorkspaceName, wait: InboxWait) {
        self.0.board.open(workspace, wait);
    }

    /// What waited in the hub itself was settled.
    pub(crate) fn settle(&self, wait: InboxWait) {
        self.0.board.settle(wait);
    }

    /// Listens to what becomes of the waits that somebody sees. Needs a tokio runtime.
    pub(crate) async fn listen(&self, standing: RightsWatch) -> Listener {
        let listener = Listener::new(self.clone(), standing);
        // What is not known by then is told later.
        let _ = timeout(ANSWER_MAX, self.0.board.everybody_answered()).await;
        listener
    }

    /// Subscribes a listener, and follows the runtimes if it is the first. Never `None`: this count is not closed.
    fn subscribe(&self) -> Option<Subscription> {
        let mut is_followed = self.0.is_followed.lock();
        let subscription = self.0.subscribers.subscribe();
        if !std::mem::replace(&mut *is_followed, true) {
            let there = self.0.registry.list().into_iter();
            self.0.board.expect(there.map(|(id, registered)| (id, registered.workspace)));
            self.0.tasks.spawn(self.clone().follow());
        }
        subscription
    }

    /// Follows the runtimes that there are until nobody has listened for a while.
    async fn follow(self) {
        let mut changes = self.0.registry.changes();
        let (mut pulls, mut followed) = (JoinSet::new(), HashMap::new());
        loop {
            changes.mark_unchanged();
            self.follow_those_there_are(&mut pulls, &mut followed);
            tokio::select! {
                // The registry is there as long as we are.
                _ = changes.changed() => {}
                () = self.0.subscribers.wait_until_idle(LINGER) => {
                    let mut is_followed = self.0.is_followed.lock();
                    // Look again under the lock: a listener may have subscribed since the wait ended. One that subscribes
                    // after this finds that nothing is followed and starts anew.
                    if self.0.subscribers.is_empty() {
                        *is_followed = false;
                        pulls.abort_all();
                        return self.0.board.clear();
                    }
                }
                () = self.0.stop.cancelled() => return,
            }
        }
    }

    fn follow_those_there_are(
        &self,
        pulls: &mut JoinSet<()>,
        followed: &mut HashMap<RuntimeId, (Timestamp, AbortHandle)>,
    ) {
        let there = self.0.registry.list();
        followed.retain(|id, (added_at, pull)| {
            let keep = there.iter().any(|(known, it)| known == id && it.added_at == *added_at);
            if !keep {
                pull.abort();
                self.0.board.forget(id);
            }
            keep
        });
        for (id, registered) in there {
            if followed.contains_key(&id) {
                continue;
            }
            self.0.board.expect([(id.clone(), registered.workspace.clone())]);
            let (inbox, name, added_at) = (self.clone(), id.clone(), registered.added_at);
            let pull = pulls.spawn(async move {
                pull::pull(&inbox.0.board, (&name, &*registered.runtime), &inbox.0.pace).await;
            });
            followed.insert(id, (added_at, pull));
        }
    }

    /// Nothing more is told: those who listen read what there is.
    pub(crate) async fn shutdown(&self) {
        self.0.stop.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
        self.0.board.seal();
    }
}
