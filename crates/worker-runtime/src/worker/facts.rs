//! What the worker makes of what it learns of the agent.

use agents::adapter::{Fact, Order, PermissionAsk, Reply as Reaction};
use protocol::{
    Event, TurnId,
    event::{InputState, SessionStatus, TokenUsage, TurnEndReason, TurnStarted},
    sessions::{AgentError, SessionCreated},
    wait::PermissionAnswer,
};
use tokio::time::Instant;
use tracing::{field::Empty, info_span, warn};

use super::{Agent, Turn, Worker};

/// How many warnings the answer to the creation of a session lists.
const WARNINGS_MAX: usize = 64;

impl Worker {
    pub(super) fn on_fact(&mut self, fact: Fact, raw: Option<&[u8]>) {
        match fact {
            Fact::Ready => self.ready(),
            Fact::Started { agent_session_id, mut started } => {
                if let Agent::Running { link, .. } = &mut self.agent {
                    link.introduced = true;
                }
                started.resumed |=
                    agent_session_id.is_some() && agent_session_id == self.kept.agent_session_id;
                self.kept.agent_session_id = agent_session_id.or(self.kept.agent_session_id.take());
                self.dirty = true;
                self.note(Event::Started(started), false, raw);
            }
            // The choices of a session are checked by the adapter; only those who choose ask for the list.
            Fact::Offers(_) => {}
            Fact::Event(event) => self.happened(event, raw),
            Fact::Warning(warning) => self.warn(warning, raw),
            Fact::TurnStarted => {
                if self.turn.is_none() {
                    self.begin_turn(TurnId::mint(), None);
                }
            }
            Fact::Consumed(input) => self.advance(input, InputState::Consumed, None),
            Fact::Refused { input, reason } => self.advance(input, InputState::Refused, Some(&reason)),
            Fact::Asked { key, asking } => self.asked(key, asking, raw),
            Fact::Withdrawn { key } => {
                if let Some(event) = self.waits.withdraw(&key) {
                    self.note(event, false, raw);
                }
            }
            Fact::TurnEnded { reason, usage, error } => self.turn_ended(reason, usage, error, raw),
            Fact::Failed(AgentError::ResumeFailed { message }) if self.kept.agent_session_id.is_some() => {
                self.start_afresh(&message);
            }
            Fact::Failed(error) => self.fail(&error),
            Fact::Leaving => {
                if let Agent::Running { link, .. } = &mut self.agent {
                    link.leaving = true;
                }
            }
        }
    }

    fn ready(&mut self) {
        if let Agent::Running { link, .. } = &mut self.agent {
            link.ready = true;
        }
        self.idle_since = Instant::now();
        self.tell_wakers(None);
        self.emit_status(None);
        self.deliver_again();
    }

    fn happened(&mut self, event: Event, raw: Option<&[u8]>) {
        match &event {
            Event::Error(error) => {
                self.kept.error = Some(error.clone());
                self.dirty = true;
            }
            Event::Plan(plan) => {
                self.kept.plan = plan.clone();
                self.dirty = true;
            }
            Event::CommandsUpdated(updated) => {
                self.kept.commands = updated.commands.clone();
                self.dirty = true;
            }
            Event::Status(status) => {
                // The adapter knows what the agent says of itself; where the session is we know better.
                let detail = status.detail.clone();
                return self.note(Event::Status(SessionStatus { state: self.state(), detail }), false, raw);
            }
            _ => {}
        }
        self.note(event, false, raw);
    }

    /// The agent works without something. That is no error of the session.
    pub(super) fn warn(&mut self, warning: AgentError, raw: Option<&[u8]>) {
        if self.warnings.len() < WARNINGS_MAX {
            self.warnings.push(warning.clone());
        }
        self.note(Event::Error(warning), false, raw);
    }

    fn asked(&mut self, key: String, asking: agents::adapter::Asking, raw: Option<&[u8]>) {
        let turn = self.turn.as_ref().map(|turn| turn.id);
        let patience = self.launcher.config.patience;
        let permission = matches!(asking, agents::adapter::Asking::Permission(PermissionAsk { .. }));
        match self.waits.ask(&self.shared.id, turn, key.clone(), asking, patience) {
            Some(event) => {
                self.note(event, false, raw);
                self.emit_status(None);
            }
            None => {
                warn!(session = %self.shared.id, "the agent has too many open questions; rejecting another");
                let reply = match permission {
                    true => Reaction::Permission(PermissionAnswer::Reject),
                    false => Reaction::Dismissed,
                };
                self.tell(Order::Answer { key, reply });
            }
        }
    }

    fn turn_ended(
        &mut self,
        reason: TurnEndReason,
        usage: Option<TokenUsage>,
        error: Option<AgentError>,
        raw: Option<&[u8]>,
    ) {
        if let Some(usage) = &usage {
            self.kept.usage.add(usage);
        }
        self.kept.error = error.clone();
        let asked_for = self.turn.as_ref().is_some_and(|turn| turn.interrupted.is_some());
        if let Some(error) = error.filter(|_| !asked_for) {
            self.note(Event::Error(error), false, raw);
        }
        let reason =
            if asked_for && reason == TurnEndReason::Failed { TurnEndReason::Interrupted } else { reason };
        self.end_turn(reason, usage, false);
        self.emit_status(None);
    }

    /// The agent cannot be used: whoever waits for it is told, and what waits is refused.
    pub(super) fn fail(&mut self, error: &AgentError) {
        // Its process, if there is one, is ended with the link.
        self.agent = Agent::Absent;
        self.says.clear();
        self.kept.error = Some(error.clone());
        self.dirty = true;
        self.emit(Event::Error(error.clone()), true);
        let reason = reason(error);
        for id in self.inputs.queued().map(|input| input.id).collect::<Vec<_>>() {
            self.advance(id, InputState::Refused, Some(&reason));
        }
        self.tell_wakers(Some(error));
        if self.turn.is_some() {
            self.end_turn(TurnEndReason::Failed, None, true);
        }
        self.emit_status(None);
    }

    /// The agent cannot go on with its earlier conversation: it begins a new one, which is told, and is handed again
    /// what it did not take.
    pub(super) fn start_afresh(&mut self, message: &str) {
        self.agent = Agent::Absent;
        self.says.clear();
        self.kept.agent_session_id = None;
        self.emit(Event::Error(AgentError::ResumeFailed { message: message.into() }), true);
        self.start_agent();
    }

    /// The agent's process has died: the turn is over, and the next message starts it again.
    pub(super) fn died(&mut self, error: AgentError) {
        self.kept.error = Some(error.clone());
        self.dirty = true;
        self.emit(Event::Error(error), true);
        let interrupted = self.turn.as_ref().is_some_and(|turn| turn.interrupted.is_some());
        let reason = if interrupted { TurnEndReason::Interrupted } else { TurnEndReason::Failed };
        self.end_turn(reason, None, true);
        self.emit_status(None);
    }

    /// The agent's process has ended as it said it would.
    pub(super) fn left(&mut self) {
        self.end_turn(TurnEndReason::Interrupted, None, true);
        self.emit_status(None);
    }

    pub(super) fn begin_turn(&mut self, id: TurnId, input: Option<protocol::InputId>) {
        let (session, agent) = (&self.shared.id, &self.kept.create.agent);
        let span = info_span!(parent: None, "turn", %session, turn = %id, %agent, reason = Empty);
        if let Some(sender) = input.and_then(|input| self.inputs.sender(input)) {
            sender.add_to(&span);
        }
        self.turn = Some(Turn { id, interrupted: None, span });
        self.launcher.metrics.turn_starts.inc();
        self.kept.error = None;
        self.dirty = true;
        self.emit(Event::TurnStarted(TurnStarted { turn_id: id, input_id: input }), input.is_none());
        self.emit_status(None);
    }

    pub(super) fn emit_status(&mut self, detail: Option<String>) {
        let state = self.state();
        self.emit(Event::Status(SessionStatus { state, detail }), true);
    }

    pub(super) fn tell_wakers(&mut self, error: Option<&AgentError>) {
        let created = SessionCreated {
            healthy: error.is_none(),
            error: error.cloned(),
            agent_session_id: self.kept.agent_session_id.clone(),
            warnings: self.warnings.clone(),
        };
        for waker in std::mem::take(&mut self.wakers) {
            self.answer(waker, Ok(created.clone()));
        }
    }
}

/// What an error says, in a line.
pub(super) fn reason(error: &AgentError) -> String {
    let json = serde_json::to_value(error).unwrap_or_default();
    let inner = json.as_object().and_then(|kinds| kinds.values().next());
    let message = inner.and_then(|inner| inner["message"].as_str().or(inner["stderr"].as_str()));
    message.map_or_else(|| json.to_string(), str::to_owned)
}
