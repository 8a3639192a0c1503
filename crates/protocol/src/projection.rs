//! The state of a session, kept up to date with its events.

use jiff::Timestamp;

use crate::{
    Event, Transcript, TurnId, WaitId,
    event::{InputReceipt, InputState, TokenUsage, TurnEndReason},
    session_title::title_of_message,
    sessions::{SessionInput, SessionSnapshot},
    wait::{Wait, WaitDefault, WaitRequest},
};

/// The number of messages in a snapshot at most; clients read earlier ones from the transcript.
pub const SNAPSHOT_MESSAGES_MAX: usize = 50;

/// A snapshot that is updated with each event, so that it equals the snapshot that the daemon would take at that point.
///
/// Some facts are not in events: the attachments of queued inputs and the expiry of waits. Those have the value of the
/// original snapshot, or are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionProjection {
    snapshot: SessionSnapshot,
    /// The messages of the snapshot, which is stored without them.
    transcript: Transcript,
}

impl SessionProjection {
    /// Starts from a snapshot.
    pub fn new(mut snapshot: SessionSnapshot) -> Self {
        let messages = std::mem::take(&mut snapshot.messages);
        let transcript = Transcript::resume(messages, snapshot.seq);
        Self { snapshot, transcript }
    }

    /// The snapshot after the last applied event.
    pub fn snapshot(&self) -> SessionSnapshot {
        let messages = self.transcript.messages();
        let skip = messages.len().saturating_sub(SNAPSHOT_MESSAGES_MAX);
        let has_earlier = self.snapshot.has_earlier || skip > 0;
        SessionSnapshot { messages: messages[skip..].to_vec(), has_earlier, ..self.snapshot.clone() }
    }

    /// Applies the next event, which was recorded at `time`.
    pub fn apply(&mut self, event: &Event, time: Timestamp) {
        if let Event::Snapshot(snapshot) = event {
            *self = Self::new((**snapshot).clone());
            return;
        }
        self.snapshot.seq += 1;
        self.transcript.apply_event(event, time);
        if self.transcript.messages().len() > 2 * SNAPSHOT_MESSAGES_MAX {
            self.transcript.keep_last(SNAPSHOT_MESSAGES_MAX);
            self.snapshot.has_earlier = true;
        }
        self.apply_to_session(event, time);
        let SessionSnapshot { seq, session, waits, inputs, .. } = &mut self.snapshot;
        session.newest_seq = *seq;
        session.updated_at = time;
        session.open_waits = waits.len() as u64;
        session.queued_inputs = inputs.len() as u64;
    }

    fn apply_to_session(&mut self, event: &Event, time: Timestamp) {
        let session = &mut self.snapshot.session;
        match event {
            Event::TurnStarted(started) => {
                session.turn_id = Some(started.turn_id);
                session.error = None;
            }
            Event::TurnEnded(ended) => {
                session.turn_id = None;
                if let Some(usage) = &ended.usage {
                    session.usage.add(usage);
                }
                if ended.reason != TurnEndReason::Failed {
                    session.error = None;
                }
            }
            Event::Error(error) => session.error = Some(error.clone()),
            Event::Status(status) => session.state = status.state,
            Event::Plan(plan) => self.snapshot.plan = plan.clone(),
            Event::CommandsUpdated(updated) => self.snapshot.commands.clone_from(&updated.commands),
            Event::Input(receipt) => self.apply_receipt(receipt, time),
            Event::QuestionAsked(question) => {
                self.open_wait(question.id, question.turn_id, WaitRequest::Question(question.clone()), time);
            }
            Event::PermissionAsked(permission) => {
                self.open_wait(
                    permission.id,
                    permission.turn_id,
                    WaitRequest::Permission(permission.clone()),
                    time,
                );
            }
            Event::QuestionResolved(resolved) => self.snapshot.waits.retain(|wait| wait.id != resolved.id),
            Event::PermissionResolved(resolved) => self.snapshot.waits.retain(|wait| wait.id != resolved.id),
            Event::Started(_)
            | Event::Message(_)
            | Event::MessageDelta(_)
            | Event::Ended(_)
            | Event::Snapshot(_)
            | Event::Unknown(_) => {}
        }
    }

    fn apply_receipt(&mut self, receipt: &InputReceipt, time: Timestamp) {
        let SessionSnapshot { inputs, session, .. } = &mut self.snapshot;
        let known = inputs.iter().position(|input| input.id == receipt.input_id);
        match (receipt.state, known) {
            (InputState::Accepted, None) => {
                if session.title.is_none() {
                    session.title = receipt.message.as_deref().and_then(title_of_message);
                }
                let Some(turn_id) = receipt.turn_id else { return };
                inputs.push(SessionInput {
                    id: receipt.input_id,
                    turn_id,
                    author: receipt.author.clone(),
                    message: receipt.message.clone().unwrap_or_default(),
                    attachments: Vec::new(),
                    state: InputState::Accepted,
                    accepted_at: time,
                });
            }
            (InputState::Edited, Some(index)) => {
                if let Some(message) = &receipt.message {
                    inputs[index].message.clone_from(message);
                }
            }
            (InputState::Accepted | InputState::Edited | InputState::Other, _) | (_, None) => {}
            (_, Some(index)) => drop(inputs.remove(index)),
        }
    }

    fn open_wait(&mut self, id: WaitId, turn_id: Option<TurnId>, request: WaitRequest, time: Timestamp) {
        let session_id = self.snapshot.session.id.clone();
        self.snapshot.waits.retain(|wait| wait.id != id);
        self.snapshot.waits.push(Wait {
            id,
            session_id,
            turn_id,
            request,
            opened_at: time,
            expires_at: None,
            default_answer: WaitDefault::Reject,
            settlement: None,
        });
    }
}

impl TokenUsage {
    /// Adds the usage of one turn. The size of the context replaces the previous one.
    pub fn add(&mut self, turn: &Self) {
        self.input_tokens += turn.input_tokens;
        self.output_tokens += turn.output_tokens;
        self.cached_tokens += turn.cached_tokens;
        self.reasoning_tokens += turn.reasoning_tokens;
        self.cost_usd = match (self.cost_usd, turn.cost_usd) {
            (None, None) => None,
            (all, one) => Some(all.unwrap_or_default() + one.unwrap_or_default()),
        };
        self.context_tokens = turn.context_tokens.or(self.context_tokens);
        self.context_window = turn.context_window.or(self.context_window);
    }
}
