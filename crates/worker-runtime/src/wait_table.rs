//! The waits of one session: open questions and permissions, and settled ones.

use std::{collections::VecDeque, time::Duration};

use agent_adapters::{Asking, PermissionAsk, QuestionAsk};
use jiff::Timestamp;
use journal::durable::{DurableJournal, RecordUpdate};
use protocol::{
    Author, Event, SessionId, TurnId, WaitId,
    event::{PermissionResolved, QuestionResolved},
    wait::{
        PermissionOutcome, PermissionRequest, QuestionOutcome, QuestionRequest, Wait, WaitDefault,
        WaitOutcome, WaitRequest, WaitSettlement,
    },
};

use crate::{
    Error,
    stored_wait::{StoredWait, WAIT, WaitContent},
};

/// The number of settled waits that are stored, so that a late answer gets the author of the first one in the error.
const SETTLED_MAX: usize = 1024;

/// The number of waits that may be open in one session. No person answers more, so an agent that opens more is out of control.
const OPEN_MAX: usize = 256;

/// The waits of one session: open questions and permissions, and settled ones.
#[derive(Debug, Default)]
pub(crate) struct WaitTable {
    /// The oldest first.
    waits: VecDeque<StoredWait>,
    /// Changed records that are not stored yet.
    updates: Vec<RecordUpdate>,
}

impl WaitTable {
    /// Reads the stored waits.
    pub(crate) async fn restore(session: &SessionId, journal: &DurableJournal) -> Result<Self, Error> {
        let records = journal.records(WAIT, String::new(), (OPEN_MAX + SETTLED_MAX) as u32).await?;
        let waits = records.iter().map(|(key, json)| {
            serde_json::from_slice(json)
                .map_err(|source| Error::unreadable(session, format!("wait {key}"), source))
        });
        Ok(Self { waits: waits.collect::<Result<_, _>>()?, updates: Vec::new() })
    }

    /// Opens a wait and returns its event; `None` if too many are open.
    pub(crate) fn open(
        &mut self,
        session: &SessionId,
        turn: Option<TurnId>,
        key: String,
        asking: Asking,
        answer_timeout: Option<Duration>,
    ) -> Option<Event> {
        if self.open_waits().count() >= OPEN_MAX {
            return None;
        }
        let (id, now) = (WaitId::mint(), Timestamp::now());
        let request = match asking {
            Asking::Permission(ask) => WaitRequest::Permission(permission(id, turn, ask)),
            Asking::Question(ask) => WaitRequest::Question(question(id, turn, ask)),
        };
        let event = match &request {
            WaitRequest::Permission(permission) => Event::PermissionAsked(permission.clone()),
            WaitRequest::Question(question) => Event::QuestionAsked(question.clone()),
        };
        let wait = Wait {
            id,
            session_id: session.clone(),
            turn_id: turn,
            request,
            opened_at: now,
            expires_at: answer_timeout.and_then(|timeout| now.checked_add(timeout).ok()),
            default_answer: WaitDefault::Reject,
            settlement: None,
        };
        let stored = StoredWait::new(wait, key);
        self.updates.push(stored.update());
        self.waits.push_back(stored);
        if self.waits.len() > OPEN_MAX + SETTLED_MAX
            && let Some(at) = self.waits.iter().position(|stored| stored.wait.settlement.is_some())
            && let Some(old) = self.waits.remove(at)
        {
            self.updates.push(RecordUpdate::delete(WAIT, old.wait.id.to_string()));
        }
        Some(event)
    }

    /// The open wait with this id.
    ///
    /// # Errors
    /// If it does not exist, or is settled.
    pub(crate) fn find_open(&self, id: WaitId) -> Result<&WaitContent, Error> {
        let stored = self.waits.iter().find(|stored| stored.wait.id == id).ok_or(Error::WaitNotFound(id))?;
        match &stored.wait.settlement {
            None => Ok(&stored.wait),
            Some(settled) => Err(Error::Settled { wait: id, settled: Box::new(settled.clone()) }),
        }
    }

    /// The open or settled wait with this id.
    pub(crate) fn find(&self, id: WaitId) -> Option<&WaitContent> {
        self.waits.iter().map(|stored| &stored.wait).find(|wait| wait.id == id)
    }

    /// Settles an open wait. Returns the event, and the adapter's key of the wait.
    pub(crate) fn settle(
        &mut self,
        id: WaitId,
        outcome: WaitOutcome,
        author: Option<Author>,
    ) -> Option<(Event, String)> {
        let stored =
            self.waits.iter_mut().find(|stored| stored.wait.id == id && stored.wait.settlement.is_none())?;
        stored.wait.settlement = Some(WaitSettlement {
            outcome: outcome.clone(),
            author: author.clone(),
            settled_at: Timestamp::now(),
        });
        self.updates.push(stored.update());
        let event = match outcome {
            WaitOutcome::Permission(outcome) => {
                Event::PermissionResolved(PermissionResolved { id, outcome, author })
            }
            WaitOutcome::Question(outcome) => {
                Event::QuestionResolved(QuestionResolved { id, outcome, author })
            }
        };
        Some((event, stored.key.clone()))
    }

    /// Settles the wait that the agent has withdrawn, and returns the event.
    pub(crate) fn withdraw(&mut self, key: &str) -> Option<Event> {
        let wait = self.waits.iter().find(|stored| stored.key == key && stored.wait.settlement.is_none())?;
        let (id, outcome) = (wait.wait.id, withdrawn_outcome(&wait.wait.request));
        self.settle(id, outcome, None).map(|(event, _)| event)
    }

    /// Settles all open waits as withdrawn, and returns the events.
    pub(crate) fn withdraw_all(&mut self) -> Vec<Event> {
        let open: Vec<_> =
            self.open_waits().map(|wait| (wait.id, withdrawn_outcome(&wait.request))).collect();
        open.into_iter().filter_map(|(id, outcome)| Some(self.settle(id, outcome, None)?.0)).collect()
    }

    /// The open waits that have expired by `now`, with their outcome.
    pub(crate) fn expired(&self, now: Timestamp) -> Vec<(WaitId, WaitOutcome)> {
        let late = self.open_waits().filter(|wait| wait.expires_at.is_some_and(|at| at <= now));
        late.map(|wait| (wait.id, expired_outcome(&wait.request))).collect()
    }

    /// When the next open wait expires.
    pub(crate) fn next_expiry(&self) -> Option<Timestamp> {
        self.open_waits().filter_map(|wait| wait.expires_at).min()
    }

    /// The open waits, the oldest first.
    pub(crate) fn open_waits(&self) -> impl Iterator<Item = &WaitContent> {
        self.waits.iter().map(|stored| &stored.wait).filter(|wait| wait.settlement.is_none())
    }

    /// Removes and returns the changed records.
    pub(crate) fn take_updates(&mut self) -> Vec<RecordUpdate> {
        std::mem::take(&mut self.updates)
    }
}

fn permission(id: WaitId, turn_id: Option<TurnId>, ask: PermissionAsk) -> PermissionRequest {
    let PermissionAsk { call_id, tool, kind, title, reason, input, always_allows } = ask;
    PermissionRequest { id, turn_id, call_id, tool, kind, title, reason, input, always_allows }
}

fn question(id: WaitId, turn_id: Option<TurnId>, ask: QuestionAsk) -> QuestionRequest {
    let QuestionAsk { call_id, questions, plan } = ask;
    QuestionRequest { id, turn_id, call_id, questions, plan }
}

/// The outcome of a wait that the agent has withdrawn.
pub(crate) fn withdrawn_outcome(request: &WaitRequest) -> WaitOutcome {
    match request {
        WaitRequest::Permission(_) => WaitOutcome::Permission(PermissionOutcome::Withdrawn),
        WaitRequest::Question(_) => WaitOutcome::Question(QuestionOutcome::Withdrawn),
    }
}

fn expired_outcome(request: &WaitRequest) -> WaitOutcome {
    match request {
        WaitRequest::Permission(_) => WaitOutcome::Permission(PermissionOutcome::Expired),
        WaitRequest::Question(_) => WaitOutcome::Question(QuestionOutcome::Expired),
    }
}
