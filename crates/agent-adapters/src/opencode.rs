//! Sessions over OpenCode's server, which many of them share.
//!
//! Before a session is ready the server is asked which modes the directory has and which model it would use; then the
//! session is made, or the earlier one is found ([`opening`]). From then on a line is an event of the server's stream:
//! those of other sessions are passed over without being parsed. Sessions that a subagent got belong to ours.
//!
//! What may be done is decided here and not by the user's configuration ([`policy`]): the server asks, and we answer by
//! ourselves where nobody has to be bothered.

mod asks;
mod calls;
mod config;
mod fault;
mod messages;
mod models;
mod opening;
mod policy;
mod prompts;
mod tools;
mod turn;

use std::collections::HashMap;

use protocol::{
    Event,
    event::{AgentPlan, PlanStep, PlanStepState},
    sessions::AgentError,
};
use serde_json::Value;

use self::{asks::Asks, calls::Calls, messages::Messages, policy::Policy, prompts::Prompts, turn::Turn};
use super::{Adapted, Adapter, Heard, Offers, Options, Order, Out, Transport};

/// Events of a session that say nothing a reader needs, or nothing that another event does not say better.
const PASSED_OVER: [&str; 11] = [
    "command.executed",
    "message.part.removed",
    "message.removed",
    "session.compacted",
    "session.deleted",
    "session.diff",
    "session.updated",
    "permission.v2.asked",
    "permission.v2.replied",
    "question.v2.asked",
    "question.v2.replied",
];

/// How the names of events begin that belong to an interface which we do not use, and repeat what others say.
const NEXT: &str = "session.next.";

pub(super) fn adapt(options: &Options) -> Result<Adapted, AgentError> {
    Ok(Adapted {
        adapter: Box::new(Opencode::new(options)?),
        transport: Transport::Server,
        // A port of the system's choosing: the server says which.
        args: ["--hostname", "127.0.0.1", "--port", "0"].map(Into::into).into(),
        env: config::env(options),
        files: Vec::new(),
    })
}

struct Opencode {
    run: String,
    /// `?directory=…`, for every call.
    directory: String,
    resume: Option<String>,
    has_mcp: bool,
    /// Whether the server is asked for its models although none is chosen.
    asks_models: bool,
    offers: Offers,
    prompts: Prompts,
    calls: Calls,
    /// What the server calls the session, once it has said so.
    session: Option<String>,
    /// The sessions of subagents, and the tool call that each of them is the inside of.
    children: HashMap<String, Option<String>>,
    turn: Option<Turn>,
    /// The newest thing said by a user in a turn that has ended.
    ended: String,
    /// Whether that turn failed.
    failed: bool,
    messages: Messages,
    asks: Asks,
    policy: Policy,
    /// How many things were not understood.
    unparsed: u64,
}

impl Opencode {
    fn new(options: &Options) -> Result<Self, AgentError> {
        Ok(Self {
            run: options.run.clone(),
            directory: calls::directory(&options.directory),
            resume: options.resume.clone(),
            has_mcp: !options.mcp.is_empty(),
            asks_models: options.asks_models,
            offers: Offers::default(),
            prompts: Prompts::new(options),
            calls: Calls::default(),
            session: None,
            children: HashMap::new(),
            turn: None,
            ended: String::new(),
            failed: false,
            messages: Messages::new(options.mcp.keys()),
            asks: Asks::default(),
            policy: Policy::new(options.permission_mode),
            unparsed: 0,
        })
    }

    /// Whether a line may be about our session. It is a look at its bytes, for most lines are about others.
    fn concerns(&self, line: &[u8]) -> bool {
        let names = self.session.iter().chain(self.children.keys());
        names.into_iter().any(|name| memchr::memmem::find(line, name.as_bytes()).is_some())
    }

    fn line(&mut self, line: &[u8], out: &mut Out) {
        if line.first() == Some(&b'{') && (!self.concerns(line) || is_copy(line)) {
            return;
        }
        let Ok(Value::Object(mut said)) = serde_json::from_slice::<Value>(line) else {
            return self.not_understood(line, "not a JSON object", out);
        };
        // The stream of all directories wraps the events of each.
        let event = said.remove("payload").unwrap_or(Value::Object(said));
        let properties = &event["properties"];
        let (Some(kind), Value::Object(_)) = (event["type"].as_str(), properties) else {
            return self.not_understood(line, "an event without a type or properties", out);
        };
        let of = properties["sessionID"].as_str().unwrap_or_default();
        if kind == "session.created" {
            return self.created(&properties["info"]);
        }
        if self.session.as_deref() != Some(of) && !self.children.contains_key(of) {
            return; // It only mentions us.
        }
        if !self.event(kind, of, properties, out) {
            self.not_understood(line, "an event of an unknown type", out);
        }
    }

    /// Takes an event of our session or of one below it; whether it was understood.
    fn event(&mut self, kind: &str, of: &str, properties: &Value, out: &mut Out) -> bool {
        let own = self.session.as_deref() == Some(of);
        match kind {
            "message.updated" => return self.message(own, of, &properties["info"], out),
            "message.part.updated" => return self.part(own, of, &properties["part"], out),
            "message.part.delta" => return self.messages.delta(properties, out),
            "permission.asked" => self.permission(properties, out),
            "question.asked" => self.question(properties, out),
            "permission.replied" | "question.replied" | "question.rejected" => {
                self.asks.settled(&properties["requestID"], out);
            }
            "todo.updated" if own => out.event(Event::Plan(plan(&properties["todos"]))),
            "session.status" if own => self.status(&properties["status"], out),
            "session.idle" if own => self.idle(out),
            "session.error" if own => self.session_error(&properties["error"], out),
            // The subagent's call tells how it ended.
            "todo.updated" | "session.status" | "session.idle" | "session.error" => {}
            _ => return PASSED_OVER.contains(&kind) || kind.starts_with(NEXT),
        }
        true
    }

    /// A session was made: perhaps for a subagent of ours.
    fn created(&mut self, info: &Value) {
        let (Some(id), Some(parent)) = (info["id"].as_str(), info["parentID"].as_str()) else { return };
        if self.session.as_deref() == Some(parent) || self.children.contains_key(parent) {
            self.children.entry(id.to_owned()).or_default();
        }
    }

    fn status(&mut self, status: &Value, out: &mut Out) {
        match status["type"].as_str() {
            Some("busy") => self.busy(out),
            Some("retry") => self.retry(status, out),
            _ => {} // That it is idle is said by an event of its own.
        }
    }

    fn not_understood(&mut self, said: &[u8], error: &str, out: &mut Out) {
        self.unparsed += 1;
        out.unparsed(format!("{}.{}", self.run, self.unparsed), said, error);
    }
}

impl Adapter for Opencode {
    fn start(&mut self, out: &mut Out) {
        self.open(out);
    }

    fn hear(&mut self, heard: Heard<'_>, out: &mut Out) {
        match heard {
            Heard::Line(line) => self.line(line, out),
            Heard::TooLong { bytes } => {
                let said = format!("an event of {bytes} bytes");
                self.not_understood(said.as_bytes(), "too long", out);
            }
            Heard::Answer { call, status, body } => self.answered(call, status, body, out),
        }
    }

    fn tell(&mut self, order: Order, out: &mut Out) {
        match order {
            Order::Prompt(prompt) => {
                self.turn = Some(Turn::default());
                self.say(&prompt, out);
            }
            Order::Steer(prompt) => self.say(&prompt, out),
            Order::Interrupt => self.interrupt(out),
            Order::Answer { key, reply } => self.reply(&key, reply, out),
        }
    }
}

/// Whether it is the copy of an event for other servers, which every second line is.
fn is_copy(line: &[u8]) -> bool {
    memchr::memmem::find(line, br#""payload":{"type":"sync""#).is_some()
}

fn plan(todos: &Value) -> AgentPlan {
    let step = |todo: &Value| PlanStep {
        text: todo["content"].as_str().unwrap_or_default().to_owned(),
        state: match todo["status"].as_str() {
            Some("pending") => PlanStepState::Pending,
            Some("in_progress") => PlanStepState::InProgress,
            Some("completed") => PlanStepState::Completed,
            _ => PlanStepState::Other,
        },
    };
    AgentPlan { steps: todos.as_array().into_iter().flatten().map(step).collect() }
}

#[cfg(test)]
mod tests;
