//! What waits for a person before it is asked of a device: waits of the hub itself, in its inbox.
//!
//! Each is written down when it is opened and when it is settled. The request that waits for it lives in this process: if the hub
//! ends, the request has ended too, and the wait is told to be withdrawn when the hub is back. What would be done is kept only
//! while it waits, for those who are asked.

mod approval_input;
mod patience;
mod question;
mod record;
mod scope;

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use hub_access::{Action, UserStore};
use jiff::Timestamp;
use journal::durable::Error;
use parking_lot::Mutex;
use protocol::{
    Author, RuntimeId, UserName, WaitId, WorkspaceName,
    inbox::InboxWait,
    relay::{RelayError, RelayErrorCode},
    wait::{
        AnswerWaitRequest, PermissionAnswer, PermissionOutcome, Wait, WaitAnswer, WaitOutcome, WaitRequest,
        WaitSettlement,
    },
};
use serde_json::Value;
use server::ErrorChain;
use tokio::{
    sync::{Semaphore, oneshot},
    task::JoinHandle,
};
use tokio_util::task::TaskTracker;
use tracing::error;

use super::{hold::Hold, ledger::Ledger, store::Store};
use crate::inbox::Inbox;

use patience::Patience;
pub(crate) use question::Question;
use question::cut;
use record::Record;
use scope::Scope;

/// How many may be open at a time: people answer them.
const OPEN_MAX: usize = 1000;

/// The memory that the parameters and reasons of all open ones may take.
const OPEN_BYTES_MAX: usize = 32 << 20;

/// How much of the agent's reason is kept of those that were settled.
const SETTLED_REASON_CHARS_MAX: usize = 1000;

/// How many that were settled are remembered, for those who answer too late.
const SETTLED_MAX: usize = 1000;

/// What waits for a person. A clone is the same.
#[derive(Clone)]
pub(crate) struct Approvals(Arc<Inner>);

struct Inner {
    record: Record,
    inbox: Inbox,
    people: UserStore,
    store: Store,
    /// How long somebody may take to answer.
    patience: Duration,
    now: Mutex<Now>,
    /// One question at a time about the same.
    turns: Mutex<HashMap<Scope, Arc<Semaphore>>>,
    tasks: TaskTracker,
}

#[derive(Default)]
struct Now {
    open: BTreeMap<WaitId, Open>,
    settled: VecDeque<InboxWait>,
}

/// Somebody is asked.
struct Open {
    /// Without what would be done: the inbox has it while it is open, and nobody needs it afterwards.
    item: InboxWait,
    /// The memory that the inbox needs for it.
    bytes: usize,
    /// What an answer for more than once is remembered as.
    scope: Option<Scope>,
    told: oneshot::Sender<WaitSettlement>,
}

/// It was approved.
pub(crate) struct Approved {
    pub(crate) by: UserName,
    pub(crate) wait: WaitId,
    /// For this, or before for more than this.
    pub(crate) is_remembered: bool,
}

/// It was not.
pub(crate) struct Refused {
    pub(crate) by: Option<UserName>,
    pub(crate) wait: Option<WaitId>,
    pub(crate) error: RelayError,
}

impl From<RelayError> for Refused {
    fn from(error: RelayError) -> Self {
        Self { by: None, wait: None, error }
    }
}

/// Why an answer does not count.
pub(crate) enum Unanswered {
    /// Nothing like it waits in the hub.
    NotOurs,
    /// Somebody was faster.
    Settled(Box<Wait>),
    /// It is no answer to this.
    Invalid,
}

impl Approvals {
    /// As its journal has it. What was open when the hub ended is withdrawn.
    pub(crate) async fn open(
        ledger: &Ledger,
        (inbox, people, store): (Inbox, UserStore, Store),
        patience: Duration,
    ) -> Result<Self, Error> {
        let (record, left) = Record::open(ledger.store()).await?;
        let approvals = Self(Arc::new(Inner {
            record,
            inbox,
            people,
            store,
            patience,
            now: Mutex::default(),
            turns: Mutex::default(),
            tasks: TaskTracker::new(),
        }));
        let before = approvals.0.record.recall(SETTLED_MAX).await?;
        approvals.0.now.lock().settled = before;
        for mut item in left {
            item.wait.settlement = Some(settled(PermissionOutcome::Withdrawn, None));
            approvals.0.record.write(&item).await?;
            approvals.0.now.lock().settled.push_front(item);
        }
        Ok(approvals)
    }

    /// How many are open, and which.
    pub(crate) fn list(&self) -> Vec<WaitId> {
        self.0.now.lock().open.keys().copied().collect()
    }

    /// Waits until somebody approves, or did so before, as long as what the request is made under holds.
    pub(crate) async fn ask(&self, question: Question<'_>, hold: &Hold) -> Result<Approved, Refused> {
        let patience = Patience::new(self.0.patience, hold);
        let scope = question.scope();
        if let Some(approved) = scope.as_ref().and_then(|scope| self.remembered(scope)) {
            return Ok(approved);
        }
        self.need_somebody(&question.environment.workspace)?;
        let input = question.input()?;
        let turn = scope.as_ref().map(|scope| self.turn(scope));
        let _turn = match &turn {
            // It is never closed.
            Some(turn) => patience.or(turn.acquire()).await?.ok(),
            None => None,
        };
        if let Some(approved) = scope.as_ref().and_then(|scope| self.remembered(scope)) {
            return Ok(approved);
        }
        let bytes = input.bytes + question.reason.map_or(0, str::len);
        let item = question.wait(input.value, patience.left());
        let asked = self.put(&item, bytes, scope)?;
        patience.or(self.tell(&question.environment.workspace, item)).await??;
        self.answered(asked, &patience).await
    }

    /// An approval that was settled not long ago.
    pub(crate) fn find_settled(&self, id: WaitId) -> Option<InboxWait> {
        self.0.now.lock().settled.iter().find(|item| item.wait.id == id).cloned()
    }

    /// What somebody answers to something that waits here; how it was settled.
    pub(crate) async fn answer(
        &self,
        runtime: &RuntimeId,
        id: WaitId,
        reply: &AnswerWaitRequest,
        by: &UserName,
    ) -> Result<Wait, Unanswered> {
        let outcome = match &reply.answer {
            WaitAnswer::Permission(PermissionAnswer::Once) => PermissionOutcome::Once,
            WaitAnswer::Permission(PermissionAnswer::Always) => PermissionOutcome::Always,
            WaitAnswer::Permission(PermissionAnswer::Reject) | WaitAnswer::Reject => {
                PermissionOutcome::Reject
            }
            WaitAnswer::Question(_) => {
                return Err(self.unanswered(runtime, id).unwrap_or(Unanswered::Invalid));
            }
        };
        if let Some(unanswered) = self.unanswered(runtime, id) {
            return Err(unanswered);
        }
        let how = settled(outcome, Some(by));
        let Some(Open { item, scope, told, .. }) = self.take(id, &how) else {
            return Err(self.unanswered(runtime, id).unwrap_or(Unanswered::NotOurs));
        };
        // Before whoever waits goes on: others wait for the same.
        if let (PermissionOutcome::Always, Some(scope)) = (outcome, scope) {
            self.remember(id, scope, by);
        }
        self.tell_settled(&item, told, how);
        // It goes on if whoever answers does not wait for it. It fails only if the hub ends.
        let _ = self.write_down(item.clone()).await;
        Ok(item.wait)
    }

    /// Why nothing can be answered, if nothing can be.
    fn unanswered(&self, runtime: &RuntimeId, id: WaitId) -> Option<Unanswered> {
        let now = self.0.now.lock();
        if now.open.get(&id).is_some_and(|open| open.item.runtime_id == *runtime) {
            return None;
        }
        let mut settled = now.settled.iter();
        let before = settled.find(|item| item.wait.id == id && item.runtime_id == *runtime);
        Some(before.map_or(Unanswered::NotOurs, |item| Unanswered::Settled(Box::new(item.wait.clone()))))
    }

    /// Somebody must be able to answer.
    fn need_somebody(&self, workspace: &WorkspaceName) -> Result<(), Refused> {
        let users = self.0.people.users();
        match users.iter().any(|user| Action::WaitsAnswer.is_allowed_for(user, workspace)) {
            true => Ok(()),
            false => Err(refused(
                RelayErrorCode::ApprovalRequired,
                "this needs an approval, and no user of the workspace has the role `controller` to give it",
                "nobody",
            )),
        }
    }

    fn remembered(&self, scope: &Scope) -> Option<Approved> {
        let state = self.0.store.now();
        let approved = state.remembered().find(|approved| scope.is_of(approved))?;
        Some(Approved { by: approved.author.clone(), wait: approved.id, is_remembered: true })
    }

    fn remember(&self, id: WaitId, scope: Scope, by: &UserName) {
        let remembered = self.0.store.change(|state, _| {
            state.remember(scope.approved(id, by.clone()));
            Ok(())
        });
        if let Err(error) = remembered {
            // Somebody is asked again.
            error!(error = %ErrorChain(&error), "could not store an approval");
        }
    }

    fn turn(&self, scope: &Scope) -> Arc<Semaphore> {
        let mut turns = self.0.turns.lock();
        // Those whom nobody waits for are of no use.
        turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        Arc::clone(turns.entry(scope.clone()).or_insert_with(|| Arc::new(Semaphore::new(1))))
    }

    /// Somebody is about to be asked: whatever becomes of that is written down.
    fn put(&self, item: &InboxWait, bytes: usize, scope: Option<Scope>) -> Result<Asked, Refused> {
        let (id, (told, answer)) = (item.wait.id, oneshot::channel());
        let mut now = self.0.now.lock();
        let open_bytes: usize = now.open.values().map(|open| open.bytes).sum();
        if now.open.len() >= OPEN_MAX || open_bytes + bytes > OPEN_BYTES_MAX {
            return Err(refused(
                RelayErrorCode::ProviderError,
                "too many approvals are open; answer some first",
                "busy",
            ));
        }
        now.open.insert(id, Open { item: without_input(item), bytes, scope, told });
        drop(now);
        Ok(Asked { approvals: self.clone(), id, answer })
    }

    /// Asks: everybody who sees the runtime is told.
    async fn tell(&self, workspace: &WorkspaceName, item: InboxWait) -> Result<(), Refused> {
        // Written before it is told: what is told is true after a restart too.
        if let Err(error) = self.0.record.write(&item).await {
            error!(error = %ErrorChain(&error), "could not store an approval request");
            return Err(refused(
                RelayErrorCode::ProviderError,
                "the hub could not store the approval request",
                "audit",
            ));
        }
        // Under the lock: what is settled is not told to be open afterwards.
        let now = self.0.now.lock();
        if now.open.contains_key(&item.wait.id) {
            self.0.inbox.open(workspace.clone(), item);
        }
        Ok(())
    }

    async fn answered(&self, mut asked: Asked, patience: &Patience<'_>) -> Result<Approved, Refused> {
        let id = asked.id;
        let outcome = match patience.or(&mut asked.answer).await {
            Ok(settled) => settled.ok(),
            Err(refused) => {
                if patience.is_over() {
                    self.settle(id, settled(PermissionOutcome::Expired, None));
                }
                return Err(Refused { wait: Some(id), ..refused });
            }
        };
        let by = outcome.as_ref().and_then(|it| it.author.as_ref()?.as_str().parse::<UserName>().ok());
        match (outcome.map(|it| it.outcome), by) {
            (
                Some(WaitOutcome::Permission(PermissionOutcome::Once | PermissionOutcome::Always)),
                Some(by),
            ) => Ok(Approved { by, wait: id, is_remembered: false }),
            (_, by) => {
                let refused = refused(RelayErrorCode::PolicyBlocked, "a user denied this request", "denied");
                Err(Refused { by, wait: Some(id), ..refused })
            }
        }
    }

    /// Takes what is open, for whoever comes first: it is settled so.
    fn take(&self, id: WaitId, how: &WaitSettlement) -> Option<Open> {
        let mut now = self.0.now.lock();
        let mut open = now.open.remove(&id)?;
        open.item.wait.settlement = Some(how.clone());
        now.settled.truncate(SETTLED_MAX - 1);
        now.settled.push_front(open.item.clone());
        Some(open)
    }

    /// Tells everybody how it was settled.
    fn tell_settled(&self, item: &InboxWait, told: oneshot::Sender<WaitSettlement>, how: WaitSettlement) {
        self.0.inbox.settle(item.clone());
        // Whoever asked may be gone.
        let _ = told.send(how);
    }

    /// Settles what is open, without an answer; nothing happens if it is settled.
    fn settle(&self, id: WaitId, how: WaitSettlement) {
        if let Some(Open { item, told, .. }) = self.take(id, &how) {
            self.tell_settled(&item, told, how);
            self.write_down(item);
        }
    }

    /// Writes down how it was settled, in a task of its own.
    fn write_down(&self, item: InboxWait) -> JoinHandle<()> {
        let approvals = self.clone();
        self.0.tasks.spawn(async move {
            if let Err(error) = approvals.0.record.write(&item).await {
                // It holds all the same: whoever waits was told.
                error!(error = %ErrorChain(&error), "could not store the answer to an approval request");
            }
        })
    }

    /// Waits until everything is written.
    pub(crate) async fn close(&self) {
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }
}

/// Somebody is asked, until they answer; who drops it no longer asks.
struct Asked {
    approvals: Approvals,
    id: WaitId,
    answer: oneshot::Receiver<WaitSettlement>,
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.approvals.settle(self.id, settled(PermissionOutcome::Withdrawn, None));
    }
}

fn settled(outcome: PermissionOutcome, by: Option<&UserName>) -> WaitSettlement {
    WaitSettlement {
        outcome: WaitOutcome::Permission(outcome),
        author: by.map(Author::from),
        settled_at: Timestamp::now(),
    }
}

/// What is kept of it once somebody was asked.
fn without_input(item: &InboxWait) -> InboxWait {
    let mut item = item.clone();
    if let WaitRequest::Permission(permission) = &mut item.wait.request {
        permission.input = Value::Null;
        permission.reason = permission.reason.take().map(|reason| cut(&reason, SETTLED_REASON_CHARS_MAX));
    }
    item
}

fn refused(code: RelayErrorCode, why: &str, reason: &str) -> Refused {
    RelayError::new(code, why).with("reason", reason).into()
}
