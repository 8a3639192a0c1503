//! A turn: its begin, its end, and the tokens that it uses.
//!
//! The server reports `idle` too often: an interrupted turn is idle once before its last message is closed and once after
//! it. So a turn is over when the server is idle, no message is open, and the newest user message is answered.

use std::{collections::HashSet, mem};

use protocol::{
    Event,
    event::{SessionStatus, TokenUsage, TurnEndReason},
    sessions::{AgentError, SessionState},
};

use super::{
    OpencodeAdapter,
    server_calls::CallPurpose,
    turn_fault::{TurnFault, has_stack_trace},
    wire_event::OpencodeStatus,
    wire_message::{MessageInfo, StepFinish},
    wire_session::OpencodeError,
};
use crate::{Fact, Out};

/// A turn that runs.
#[derive(Debug, Default)]
pub(super) struct OpencodeTurn {
    /// Whether the server works on it.
    is_busy: bool,
    /// Whether clients see that the request to the model is retried.
    is_retrying: bool,
    interrupt: InterruptState,
    /// The newest user message.
    asked: Option<String>,
    /// The user message that the newest closed message answers.
    answered: Option<String>,
    /// The open messages.
    open: HashSet<String>,
    /// Why the model stopped in the newest closed message.
    finish: Option<String>,
    fault: Option<TurnFault>,
    usage: Option<TokenUsage>,
    /// The message to the agent if it stops because an action was not allowed.
    pub(super) feedback: Option<String>,
}

/// The state of an interrupt.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum InterruptState {
    #[default]
    None,
    /// To be sent once the server works on the turn: it ignores an earlier interrupt.
    Wanted,
    Sent,
}

impl OpencodeTurn {
    fn is_over(&self, has_waiting_prompt: bool) -> bool {
        let ended = self.fault.is_some() || self.interrupt == InterruptState::Sent;
        self.open.is_empty()
            && (ended || (!has_waiting_prompt && self.asked.is_some() && self.answered == self.asked))
    }

    fn reason(&self) -> TurnEndReason {
        let finish = self.finish.as_deref();
        match self.fault {
            Some(TurnFault::Aborted) => TurnEndReason::Interrupted,
            Some(TurnFault::Length) => TurnEndReason::MaxTokens,
            Some(TurnFault::Filtered) => TurnEndReason::Refused,
            Some(TurnFault::Error(_)) => TurnEndReason::Failed,
            None if finish == Some("length") => TurnEndReason::MaxTokens,
            None if finish == Some("content-filter") => TurnEndReason::Refused,
            // A turn may have ended by itself just before the interrupt.
            None if self.interrupt == InterruptState::Sent && finish != Some("stop") => {
                TurnEndReason::Interrupted
            }
            None => TurnEndReason::Completed,
        }
    }

    /// Adds the usage of one step. `is_own` if the step belongs to the session itself and not to a subagent.
    pub(super) fn add_usage(&mut self, step: &StepFinish, is_own: bool) {
        let (tokens, usage) = (&step.tokens, self.usage.get_or_insert_default());
        let (cache_read, cache_write) =
            (tokens.cache.read.unwrap_or_default(), tokens.cache.write.unwrap_or_default());
        let (input, reasoning) = (tokens.input.unwrap_or_default(), tokens.reasoning.unwrap_or_default());
        let context = input.saturating_add(cache_read).saturating_add(cache_write);
        let output = tokens.output.unwrap_or_default().saturating_add(reasoning);
        usage.input_tokens = usage.input_tokens.saturating_add(input).saturating_add(cache_write);
        usage.cached_tokens = usage.cached_tokens.saturating_add(cache_read);
        usage.reasoning_tokens = usage.reasoning_tokens.saturating_add(reasoning);
        // Whether `output` includes the reasoning depends on the provider; the total is reliable.
        let written = tokens.total.map_or(output, |total| total.saturating_sub(context));
        usage.output_tokens = usage.output_tokens.saturating_add(written);
        if let Some(cost) = step.cost {
            usage.cost_usd = Some(usage.cost_usd.unwrap_or_default() + cost);
        }
        if is_own {
            usage.context_tokens = Some(tokens.total.unwrap_or(context.saturating_add(output)));
        }
    }
}

impl OpencodeAdapter {
    /// Handles a user message: a client's, or one that the server writes in the user's name.
    pub(super) fn user_message_updated(&mut self, id: &str, info: &MessageInfo, out: &mut Out) {
        // The server repeats an older message when its summary is made. Ids rise with time.
        let Some(turn) = &mut self.turn else { return };
        if info.summary.is_some()
            || id <= self.last_answered.as_str()
            || turn.asked.as_deref().is_some_and(|asked| id <= asked)
        {
            return;
        }
        turn.asked = Some(id.to_owned());
        if let Some(input) = self.prompts.take_next() {
            out.facts.push(Fact::Consumed(input));
        }
    }

    /// Handles a message of the agent.
    pub(super) fn assistant_message_updated(&mut self, id: &str, info: &MessageInfo, out: &mut Out) {
        let parent = info.parent_id.as_deref().unwrap_or_default();
        let is_closed = info.is_closed();
        if self.turn.is_none() {
            if is_closed || parent <= self.last_answered.as_str() {
                return; // The rest of a turn that has ended.
            }
            out.facts.push(Fact::TurnStarted);
            self.turn = Some(OpencodeTurn {
                is_busy: true,
                asked: Some(parent.to_owned()),
                ..OpencodeTurn::default()
            });
        }
        let Some(turn) = &mut self.turn else { return };
        if !is_closed {
            if turn.open.insert(id.to_owned()) {
                turn.feedback = None; // The agent continues by itself.
            }
            return;
        }
        turn.open.remove(id);
        turn.answered = Some(parent.to_owned());
        turn.finish.clone_from(&info.finish);
        // A message that ended well replaces an earlier fault, such as that of a conversation which had to be shortened.
        turn.fault = info.error().as_ref().map(TurnFault::from);
    }

    /// Handles the status `busy`.
    pub(super) fn server_busy(&mut self, out: &mut Out) {
        let Some(turn) = &mut self.turn else { return };
        turn.is_busy = true;
        if mem::take(&mut turn.is_retrying) {
            out.event(Event::Status(SessionStatus { state: SessionState::Running, detail: None }));
        }
        if turn.interrupt == InterruptState::Wanted {
            turn.interrupt = InterruptState::Sent;
            self.abort(out);
        }
    }

    /// Handles the status `retry`: a request to the model failed and will be repeated. The server does not give up by itself.
    pub(super) fn server_retries(&mut self, status: &OpencodeStatus, out: &mut Out) {
        if let Some(turn) = &mut self.turn {
            turn.is_retrying = true;
        }
        let reason = status.message.as_deref().unwrap_or("it failed");
        let attempt = status.attempt.unwrap_or_default();
        let detail = Some(format!("retrying the model request (attempt {attempt}): {reason}"));
        out.event(Event::Status(SessionStatus { state: SessionState::Running, detail }));
    }

    pub(super) fn interrupt(&mut self, out: &mut Out) {
        let Some(turn) = &mut self.turn else { return };
        turn.feedback = None;
        turn.interrupt = if turn.is_busy { InterruptState::Sent } else { InterruptState::Wanted };
        if turn.is_busy {
            self.abort(out);
        }
    }

    fn abort(&mut self, out: &mut Out) {
        let path = self.session_path("/abort");
        self.calls.post(CallPurpose::Notice("interrupt the turn"), path, None, out);
    }

    /// Handles `session.idle`.
    pub(super) fn server_idle(&mut self, out: &mut Out) {
        let Some(turn) = &mut self.turn else { return };
        if !turn.is_over(self.prompts.is_waiting()) {
            return;
        }
        if let Some(feedback) = turn.feedback.take()
            && turn.finish.as_deref() == Some("tool-calls")
            && turn.fault.is_none()
        {
            return self.send_own_message(&feedback, out);
        }
        self.end_turn(out);
    }

    /// Handles `session.error`.
    pub(super) fn session_failed(&mut self, error: &OpencodeError, out: &mut Out) {
        // The server reports an error before the begin of a turn twice, the second time with a stack trace and too late.
        if self.has_last_turn_failed && has_stack_trace(error) {
            return;
        }
        let fault = TurnFault::from(error);
        let Some(turn) = &mut self.turn else {
            if let TurnFault::Error(error) = fault {
                out.event(Event::Error(error));
            }
            return;
        };
        turn.fault.get_or_insert(fault);
        // The server never reports `idle` for a turn that it never worked on.
        if !turn.is_busy {
            self.end_turn(out);
        }
    }

    /// Ends the turn if the server did not accept the prompt that should begin it.
    pub(super) fn turn_not_begun(&mut self, reason: &str, out: &mut Out) {
        let Some(turn) = &mut self.turn else { return };
        if turn.asked.is_none() && !turn.is_busy {
            turn.fault = Some(TurnFault::Error(AgentError::Other { message: reason.to_owned() }));
            self.end_turn(out);
        }
    }

    fn end_turn(&mut self, out: &mut Out) {
        let Some(turn) = self.turn.take() else { return };
        self.messages.end_turn(out);
        self.requests.clear();
        self.children.clear();
        let reason = turn.reason();
        for input in self.prompts.take_all() {
            let reason = match &turn.fault {
                Some(TurnFault::Error(error)) => format!("the turn failed: {}", error_text(error)),
                _ => "the turn was interrupted".into(),
            };
            out.facts.push(Fact::Refused { input, reason });
        }
        if let Some(asked) = turn.asked {
            self.last_answered = asked;
        }
        self.has_last_turn_failed = matches!(turn.fault, Some(TurnFault::Error(_)));
        let error = match turn.fault {
            Some(TurnFault::Error(error)) => Some(error),
            _ => None,
        };
        out.facts.push(Fact::TurnEnded { reason, usage: turn.usage, error });
    }

    pub(super) fn send_compaction_status(&mut self, out: &mut Out) {
        let detail = Some("the agent is compacting the conversation".into());
        out.event(Event::Status(SessionStatus { state: SessionState::Running, detail }));
    }
}

fn error_text(error: &AgentError) -> &str {
    match error {
        AgentError::TokenError { message }
        | AgentError::ModelError { message, .. }
        | AgentError::Other { message } => message,
        _ => "something went wrong",
    }
}
