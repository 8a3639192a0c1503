//! One turn: when it has begun, when it is over, and what it took.
//!
//! The server says `idle` too often: an interrupted turn is idle once before its last message is closed and once after
//! it. So a turn is over when the server is idle, no message is open, and the newest thing that a user said was answered.

use std::{collections::HashSet, mem};

use protocol::{
    Event,
    event::{SessionStatus, TokenUsage, TurnEndReason},
    sessions::{AgentError, SessionState},
};
use serde_json::Value;

use super::{
    Opencode,
    calls::Purpose,
    fault::{self, Fault},
};
use crate::{Fact, Out};

/// One turn.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// The server works on it.
    busy: bool,
    /// It was told that the model is asked again.
    retrying: bool,
    interrupt: Interrupt,
    /// The newest thing that a user said.
    asked: Option<String>,
    /// What the newest closed message answers.
    answered: Option<String>,
    /// Messages that are being written.
    open: HashSet<String>,
    /// How the newest closed message ended.
    finish: Option<String>,
    fault: Option<Fault>,
    usage: Option<TokenUsage>,
    /// What is said to the agent if it stops because it was not allowed something: why.
    pub(super) feedback: Option<String>,
}

/// Whether somebody wants the turn to end.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Interrupt {
    #[default]
    None,
    /// As soon as the server works on it: before that it would not hear it.
    Wanted,
    Sent,
}

impl Turn {
    fn is_over(&self, waiting: bool) -> bool {
        let ended = self.fault.is_some() || self.interrupt == Interrupt::Sent;
        self.open.is_empty() && (ended || (!waiting && self.asked.is_some() && self.answered == self.asked))
    }

    fn reason(&self) -> TurnEndReason {
        let finish = self.finish.as_deref();
        match self.fault {
            Some(Fault::Aborted) => TurnEndReason::Interrupted,
            Some(Fault::Length) => TurnEndReason::MaxTokens,
            Some(Fault::Filtered) => TurnEndReason::Refused,
            Some(Fault::Error(_)) => TurnEndReason::Failed,
            None if finish == Some("length") => TurnEndReason::MaxTokens,
            None if finish == Some("content-filter") => TurnEndReason::Refused,
            // One that ended by itself in the same moment was not interrupted.
            None if self.interrupt == Interrupt::Sent && finish != Some("stop") => TurnEndReason::Interrupted,
            None => TurnEndReason::Completed,
        }
    }

    /// Adds what one step took; `own` if its conversation is that of the session.
    pub(super) fn step(&mut self, step: &Value, own: bool) {
        let (tokens, usage) = (&step["tokens"], self.usage.get_or_insert_default());
        let count = |value: &Value| value.as_u64().unwrap_or_default();
        let (read, written) = (count(&tokens["cache"]["read"]), count(&tokens["cache"]["write"]));
        let (input, thought) = (count(&tokens["input"]), count(&tokens["reasoning"]));
        let output = count(&tokens["output"]) + thought;
        let total = tokens["total"].as_u64();
        usage.input_tokens += input + written;
        usage.cached_tokens += read;
        usage.reasoning_tokens += thought;
        // Whether `output` counts what was thought depends on the provider; the total knows.
        usage.output_tokens += total.map_or(output, |total| total.saturating_sub(input + read + written));
        if let Some(cost) = step["cost"].as_f64() {
            usage.cost_usd = Some(usage.cost_usd.unwrap_or_default() + cost);
        }
        if own {
            usage.context_tokens = Some(total.unwrap_or(input + read + written + output));
        }
    }
}

impl Opencode {
    /// A user said something: one of ours, or the server in a user's name.
    pub(super) fn asked(&mut self, info: &Value, out: &mut Out) {
        let id = info["id"].as_str().unwrap_or_default();
        // An older one is told again when its summary is made. Names rise with time.
        let Some(turn) = &mut self.turn else { return };
        if !info["summary"].is_null()
            || id <= self.ended.as_str()
            || turn.asked.as_deref().is_some_and(|asked| id <= asked)
        {
            return;
        }
        turn.asked = Some(id.to_owned());
        if let Some(input) = self.prompts.taken() {
            out.facts.push(Fact::Consumed(input));
        }
    }

    /// A message of the agent was begun, or has changed.
    pub(super) fn answering(&mut self, info: &Value, out: &mut Out) {
        let parent = info["parentID"].as_str().unwrap_or_default();
        let closed = !info["time"]["completed"].is_null() || !info["error"].is_null();
        if self.turn.is_none() {
            if closed || parent <= self.ended.as_str() {
                return; // The rest of a turn that has ended.
            }
            out.facts.push(Fact::TurnStarted);
            self.turn = Some(Turn { busy: true, asked: Some(parent.to_owned()), ..Turn::default() });
        }
        let (Some(turn), Some(id)) = (&mut self.turn, info["id"].as_str()) else { return };
        if !closed {
            if turn.open.insert(id.to_owned()) {
                turn.feedback = None; // It goes on by itself.
            }
            return;
        }
        turn.open.remove(id);
        turn.answered = Some(parent.to_owned());
        turn.finish = info["finish"].as_str().map(str::to_owned);
        // One that ended well makes up for those before it, such as for one that was too long and had to be shortened.
        turn.fault = (!info["error"].is_null()).then(|| fault::read(&info["error"]));
    }

    pub(super) fn busy(&mut self, out: &mut Out) {
        let Some(turn) = &mut self.turn else { return };
        turn.busy = true;
        if mem::take(&mut turn.retrying) {
            out.event(Event::Status(SessionStatus { state: SessionState::Running, detail: None }));
        }
        if turn.interrupt == Interrupt::Wanted {
            turn.interrupt = Interrupt::Sent;
            self.abort(out);
        }
    }

    /// The model could not be used, and will be asked again. The server does not give up by itself.
    pub(super) fn retry(&mut self, status: &Value, out: &mut Out) {
        if let Some(turn) = &mut self.turn {
            turn.retrying = true;
        }
        let why = status["message"].as_str().unwrap_or("it failed");
        let attempt = status["attempt"].as_u64().unwrap_or_default();
        let detail = Some(format!("retrying the model request (attempt {attempt}): {why}"));
        out.event(Event::Status(SessionStatus { state: SessionState::Running, detail }));
    }

    pub(super) fn interrupt(&mut self, out: &mut Out) {
        let Some(turn) = &mut self.turn else { return };
        turn.feedback = None;
        turn.interrupt = if turn.busy { Interrupt::Sent } else { Interrupt::Wanted };
        if turn.busy {
            self.abort(out);
        }
    }

    fn abort(&mut self, out: &mut Out) {
        let path = self.path("/abort");
        self.calls.post(Purpose::Notice("interrupt the turn"), path, None, out);
    }

    pub(super) fn idle(&mut self, out: &mut Out) {
        let Some(turn) = &mut self.turn else { return };
        if !turn.is_over(self.prompts.is_waiting()) {
            return;
        }
        if let Some(feedback) = turn.feedback.take()
            && turn.finish.as_deref() == Some("tool-calls")
            && turn.fault.is_none()
        {
            return self.add(&feedback, out);
        }
        self.end(out);
    }

    pub(super) fn session_error(&mut self, error: &Value, out: &mut Out) {
        // What ends a turn before it has begun is said twice, the second time with a trace and too late.
        if self.failed && fault::is_trace(error) {
            return;
        }
        let read = fault::read(error);
        let Some(turn) = &mut self.turn else {
            if let Fault::Error(error) = read {
                out.event(Event::Error(error));
            }
            return;
        };
        turn.fault.get_or_insert(read);
        // One that the server never worked on is never idle either.
        if !turn.busy {
            self.end(out);
        }
    }

    /// Something was not taken by the server; if it was to begin the turn, there is none.
    pub(super) fn not_begun(&mut self, reason: &str, out: &mut Out) {
        let Some(turn) = &mut self.turn else { return };
        if turn.asked.is_none() && !turn.busy {
            turn.fault = Some(Fault::Error(AgentError::Other { message: reason.to_owned() }));
            self.end(out);
        }
    }

    fn end(&mut self, out: &mut Out) {
        let Some(turn) = self.turn.take() else { return };
        self.messages.close(out);
        self.asks.clear();
        self.children.clear();
        let reason = turn.reason();
        for input in self.prompts.forgotten() {
            let reason = match &turn.fault {
                Some(Fault::Error(error)) => format!("the turn failed: {}", said(error)),
                _ => "the turn was interrupted".into(),
            };
            out.facts.push(Fact::Refused { input, reason });
        }
        if let Some(asked) = turn.asked {
            self.ended = asked;
        }
        self.failed = matches!(turn.fault, Some(Fault::Error(_)));
        let error = match turn.fault {
            Some(Fault::Error(error)) => Some(error),
            _ => None,
        };
        out.facts.push(Fact::TurnEnded { reason, usage: turn.usage, error });
    }

    /// The conversation is being shortened.
    pub(super) fn compacting(&mut self, out: &mut Out) {
        let detail = Some("the agent is compacting the conversation".into());
        out.event(Event::Status(SessionStatus { state: SessionState::Running, detail }));
    }
}

fn said(error: &AgentError) -> &str {
    match error {
        AgentError::TokenError { message }
        | AgentError::ModelError { message, .. }
        | AgentError::Other { message } => message,
        _ => "something went wrong",
    }
}
