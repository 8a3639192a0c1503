//! What waits for a person.

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

/// How many waits are remembered after they were settled, so that who comes late is told who was faster.
const SETTLED_MAX: usize = 1024;

/// How many waits may be open in one session; an agent that asks more is not asking anybody.
const OPEN_MAX: usize = 256;

/// The waits of a session.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// All that are remembered, the oldest first.
    all: VecDeque<StoredWait>,
    changes: Vec<RecordUpdate>,
}

impl Waits {
    /// As the notes have it.
    pub(crate) async fn open(session: &SessionId, journal: &DurableJournal) -> Result<Self, Error> {
        let records = journal.records(WAIT, String::new(), (OPEN_MAX + SETTLED_MAX) as u32).await?;
        let parsed = records.iter().map(|(key, json)| {
            serde_json::from_slice(json)
                .map_err(|source| Error::unreadable(session, format!("wait {key}"), source))
        });
        Ok(Self { all: parsed.collect::<Result<_, _>>()?, changes: Vec::new() })
    }

    /// The agent asks: what to tell, or nothing if it asks too much.
    pub(crate) fn ask(
        &mut self,
        session: &SessionId,
        turn: Option<TurnId>,
        key: String,
        asking: Asking,
        patience: Option<Duration>,
    ) -> Option<Event> {
        if self.unsettled().count() >= OPEN_MAX {
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
            expires_at: patience.and_then(|patience| now.checked_add(patience).ok()),
            default_answer: WaitDefault::Reject,
            settlement: None,
        };
        let stored = StoredWait::new(wait, key);
        self.changes.push(stored.update());
        self.all.push_back(stored);
        if self.all.len() > OPEN_MAX + SETTLED_MAX
            && let Some(at) = self.all.iter().position(|kept| kept.wait.settlement.is_some())
            && let Some(old) = self.all.remove(at)
        {
            self.changes.push(RecordUpdate::delete(WAIT, old.wait.id.to_string()));
        }
        Some(event)
    }

    /// The wait of this name.
    pub(crate) fn get(&self, id: WaitId) -> Result<&WaitContent, Error> {
        let kept = self.all.iter().find(|kept| kept.wait.id == id).ok_or(Error::WaitNotFound(id))?;
        match &kept.wait.settlement {
            None => Ok(&kept.wait),
            Some(settled) => Err(Error::Settled { wait: id, settled: Box::new(settled.clone()) }),
        }
    }

    /// The wait of this name, however it stands.
    pub(crate) fn find(&self, id: WaitId) -> Option<&WaitContent> {
        self.all.iter().map(|kept| &kept.wait).find(|wait| wait.id == id)
    }

    /// Settles a wait that is open: what to tell, and what the adapter calls it.
    pub(crate) fn settle(
        &mut self,
        id: WaitId,
        outcome: WaitOutcome,
        author: Option<Author>,
    ) -> Option<(Event, String)> {
        let kept = self.all.iter_mut().find(|kept| kept.wait.id == id && kept.wait.settlement.is_none())?;
        kept.wait.settlement = Some(WaitSettlement {
            outcome: outcome.clone(),
            author: author.clone(),
            settled_at: Timestamp::now(),
        });
        self.changes.push(kept.update());
        let event = match outcome {
            WaitOutcome::Permission(outcome) => {
                Event::PermissionResolved(PermissionResolved { id, outcome, author })
            }
            WaitOutcome::Question(outcome) => {
                Event::QuestionResolved(QuestionResolved { id, outcome, author })
            }
        };
        Some((event, kept.key.clone()))
    }

    /// The agent no longer asks this.
    pub(crate) fn withdraw(&mut self, key: &str) -> Option<Event> {
        let wait = self.all.iter().find(|kept| kept.key == key && kept.wait.settlement.is_none())?;
        let (id, outcome) = (wait.wait.id, withdrawn(&wait.wait.request));
        self.settle(id, outcome, None).map(|(event, _)| event)
    }

    /// The agent asks nothing any more.
    pub(crate) fn withdraw_all(&mut self) -> Vec<Event> {
        let open: Vec<_> = self.unsettled().map(|wait| (wait.id, withdrawn(&wait.request))).collect();
        open.into_iter().filter_map(|(id, outcome)| Some(self.settle(id, outcome, None)?.0)).collect()
    }

    /// Those that nobody answered in time, with how they are settled now.
    pub(crate) fn overdue(&self, now: Timestamp) -> Vec<(WaitId, WaitOutcome)> {
        let late = self.unsettled().filter(|wait| wait.expires_at.is_some_and(|at| at <= now));
        late.map(|wait| (wait.id, expired(&wait.request))).collect()
    }

    /// When the next one is overdue.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.unsettled().filter_map(|wait| wait.expires_at).min()
    }

    /// Those that are open, the oldest first.
    pub(crate) fn unsettled(&self) -> impl Iterator<Item = &WaitContent> {
        self.all.iter().map(|kept| &kept.wait).filter(|wait| wait.settlement.is_none())
    }

    /// What is to be written.
    pub(crate) fn changes(&mut self) -> Vec<RecordUpdate> {
        std::mem::take(&mut self.changes)
    }
}

/// Whether these answers fit the question.
pub(crate) fn check(question: &QuestionRequest, answers: &[Vec<String>]) -> Result<(), Error> {
    let (asked, answered) = (question.questions.len(), answers.len());
    if asked != answered {
        return Err(Error::InvalidAnswer(format!(
            "expected {asked} answers, one for each question, but got {answered}"
        )));
    }
    for (item, chosen) in question.questions.iter().zip(answers) {
        if chosen.is_empty() && item.is_required && item.default_answer.is_empty() {
            return Err(Error::InvalidAnswer(format!("question `{}` needs an answer", item.question)));
        }
        if chosen.len() > 1 && !item.allows_multiple {
            return Err(Error::InvalidAnswer(format!("question `{}` takes only one answer", item.question)));
        }
        let offered = |label: &String| item.options.iter().any(|option| option.label == *label);
        if let Some(other) = chosen.iter().find(|label| !item.allows_custom && !offered(label)) {
            return Err(Error::InvalidAnswer(format!(
                "`{other}` is not an option of question `{}`",
                item.question
            )));
        }
    }
    Ok(())
}

fn permission(id: WaitId, turn_id: Option<TurnId>, ask: PermissionAsk) -> PermissionRequest {
    let PermissionAsk { call_id, tool, kind, title, reason, input, always_allows } = ask;
    PermissionRequest { id, turn_id, call_id, tool, kind, title, reason, input, always_allows }
}

fn question(id: WaitId, turn_id: Option<TurnId>, ask: QuestionAsk) -> QuestionRequest {
    let QuestionAsk { call_id, questions, plan } = ask;
    QuestionRequest { id, turn_id, call_id, questions, plan }
}

/// How a wait is settled that the agent no longer asks.
pub(crate) fn withdrawn(request: &WaitRequest) -> WaitOutcome {
    match request {
        WaitRequest::Permission(_) => WaitOutcome::Permission(PermissionOutcome::Withdrawn),
        WaitRequest::Question(_) => WaitOutcome::Question(QuestionOutcome::Withdrawn),
    }
}

fn expired(request: &WaitRequest) -> WaitOutcome {
    match request {
        WaitRequest::Permission(_) => WaitOutcome::Permission(PermissionOutcome::Expired),
        WaitRequest::Question(_) => WaitOutcome::Question(QuestionOutcome::Expired),
    }
}
