//! Sessions over Claude Code's stream of JSON with its control requests.
//!
//! One process lives as long as the session is used. A turn begins with a prompt, or by itself when something that runs
//! in the background has ended, and ends with a line of type `result`.

mod ask;
mod inputs;
mod launch;
mod lines;
mod models;
mod outcome;
mod speech;
mod steps;
mod system;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use ask::Ask;
use inputs::Inputs;
use outcome::Failure;
use protocol::{
    Event, InputId,
    event::{SessionStatus, TokenUsage, TurnEndReason},
    message::ToolStatus,
    sessions::{AgentError, PermissionMode, SessionState},
    wait::PermissionAnswer,
};
use serde_json::{Value, json};
use speech::Speeches;
use steps::Steps;

use super::{
    Adapted, Adapter, Fact, Heard, Options, Order, Out, Prompt, Reply, Transport,
    stream_json::{self, calls::Calls, content, mcp},
};

/// How many single calls are remembered as allowed for good, where the agent has no rule for them.
const ALLOWED_MAX: usize = 256;

/// The first request, whose answer says that the agent is there.
const INITIALIZE: &str = "1";

pub(super) use launch::modes;

pub(super) fn adapt(options: &Options) -> Result<Adapted, AgentError> {
    let launch = launch::launch(options)?;
    Ok(Adapted {
        adapter: Box::new(Claude::new(options, launch.after_plan)),
        transport: Transport::Lines,
        args: launch.args,
        env: launch.env,
        files: launch.files,
    })
}

/// One process of Claude Code.
struct Claude {
    run: String,
    /// How many messages were named by us.
    named: u64,
    /// How many control requests were made.
    requests: u64,
    resumed: bool,
    /// The MCP servers of which it has not said whether they started.
    servers: BTreeSet<String>,
    /// The chosen model.
    model: Option<String>,
    permission_mode: PermissionMode,
    /// The mode that it goes into once its plan is approved.
    after_plan: &'static str,
    /// Whether it is in plan mode.
    planning: bool,
    /// Whether nothing may be written: until the plan is approved.
    reading: bool,
    ready: bool,
    /// What it calls the session.
    session: Option<String>,
    turn: Turn,
    inputs: Inputs,
    speeches: Speeches,
    calls: Calls,
    /// What it asks, by the name of the request.
    asks: BTreeMap<String, Ask>,
    /// Calls that are allowed for good, where the agent has no rule for them.
    allowed: Vec<(String, Value)>,
    steps: Steps,
    /// Calls whose work goes on after their turn.
    background: BTreeSet<String>,
    failure: Option<Failure>,
    /// How many tokens the conversation held at last.
    context: Option<u64>,
    /// Whether people were told what it waits for.
    noted: bool,
}

/// Whether a turn runs, and what began it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Turn {
    Idle,
    Told(InputId),
    Own,
}

impl Adapter for Claude {
    fn start(&mut self, out: &mut Out) {
        self.request(&json!({ "subtype": "initialize" }), out);
    }

    fn hear(&mut self, heard: Heard<'_>, out: &mut Out) {
        match stream_json::line(heard) {
            Ok(line) => self.line(line, out),
            Err((received, error)) => {
                let id = self.name();
                out.unparsed(id, received, error);
            }
        }
    }

    fn tell(&mut self, order: Order, out: &mut Out) {
        match order {
            Order::Prompt(prompt) => {
                self.turn = Turn::Told(prompt.id);
                self.say(&prompt, out);
            }
            Order::Steer(prompt) => self.say(&prompt, out),
            Order::Interrupt => self.request(&json!({ "subtype": "interrupt" }), out),
            Order::Answer { key, reply } => self.answer(&key, &reply, out),
        }
    }
}

impl Claude {
    fn new(options: &Options, after_plan: &'static str) -> Self {
        let reading = options.permission_mode == PermissionMode::Plan;
        Self {
            run: options.run.clone(),
            named: 0,
            requests: 0,
            resumed: options.resume.is_some(),
            servers: mcp::servers(&options.mcp).into_iter().map(|(name, _)| name).collect(),
            model: options.model.clone(),
            permission_mode: options.permission_mode,
            after_plan,
            planning: reading || options.agent_mode == "plan",
            reading,
            ready: false,
            session: None,
            turn: Turn::Idle,
            inputs: Inputs::default(),
            speeches: Speeches::default(),
            calls: Calls::default(),
            asks: BTreeMap::new(),
            allowed: Vec::new(),
            steps: Steps::default(),
            background: BTreeSet::new(),
            failure: None,
            context: None,
            noted: false,
        }
    }

    /// A name for a message that the agent does not name.
    fn name(&mut self) -> String {
        self.named += 1;
        format!("{}.{}", self.run, self.named)
    }

    fn request(&mut self, request: &Value, out: &mut Out) {
        self.requests += 1;
        let id = self.requests.to_string();
        out.line(&json!({ "type": "control_request", "request_id": id, "request": request }));
    }

    fn respond(request: &str, response: &Value, out: &mut Out) {
        let response = json!({ "subtype": "success", "request_id": request, "response": response });
        out.line(&json!({ "type": "control_response", "response": response }));
    }

    fn say(&mut self, prompt: &Prompt, out: &mut Out) {
        let uuid = self.inputs.push(prompt.id);
        let message = json!({ "role": "user", "content": content::blocks(prompt) });
        out.line(&json!({
            "type": "user", "message": message, "parent_tool_use_id": null, "session_id": "", "uuid": uuid,
        }));
    }

    /// The agent works: on what it was told, or on something of its own.
    fn begin(&mut self, out: &mut Out) {
        match self.turn {
            Turn::Idle => {
                self.turn = Turn::Own;
                out.facts.push(Fact::TurnStarted);
            }
            Turn::Told(id) => out.facts.extend(self.inputs.take_silent(id).map(Fact::Consumed)),
            Turn::Own => {}
        }
    }

    fn end(
        &mut self,
        reason: TurnEndReason,
        usage: Option<TokenUsage>,
        error: Option<AgentError>,
        out: &mut Out,
    ) {
        let background = !self.background.is_empty();
        for event in self.calls.abandon(|open| open.parent.is_none() || !background) {
            out.event(event);
        }
        (self.turn, self.noted) = (Turn::Idle, false);
        out.facts.push(Fact::TurnEnded { reason, usage, error });
        // What works in the background still asks, though all that the turn asked is moot.
        self.asks.retain(|_, ask| ask.inner);
        for (key, ask) in &self.asks {
            out.facts.push(Fact::Asked { key: key.clone(), asking: ask.asking(self.planning) });
        }
    }

    /// Tells people what it waits for, or that it no longer does.
    fn note(&mut self, detail: Option<String>, out: &mut Out) {
        if detail.is_none() && !self.noted {
            return;
        }
        self.noted = detail.is_some();
        let state = if self.turn == Turn::Idle { SessionState::Idle } else { SessionState::Running };
        out.event(Event::Status(SessionStatus { state, detail }));
    }

    /// The agent asks whether it may use a tool.
    fn asked(&mut self, key: &str, ask: Ask, out: &mut Out) {
        if !ask.is_question() {
            let known = self.allowed.iter().any(|(tool, input)| *tool == ask.tool && *input == ask.input);
            if known || self.permission_mode == PermissionMode::Bypass {
                return Self::respond(key, &ask.allowed(Vec::new()), out);
            }
            if self.reading && ask.writes() {
                let denied = ask::denied("Nothing may be changed or run until the user has approved a plan.");
                return Self::respond(key, &denied, out);
            }
        }
        if let Some(call) = &ask.call_id {
            out.facts.extend(self.calls.mark(call, ToolStatus::Pending).map(Fact::Event));
        }
        out.facts.push(Fact::Asked { key: key.into(), asking: ask.asking(self.planning) });
        self.asks.insert(key.into(), ask);
    }

    /// Somebody answered. What is no longer asked needs no answer.
    fn answer(&mut self, key: &str, reply: &Reply, out: &mut Out) {
        let Some(ask) = self.asks.remove(key) else { return };
        let response = ask.answer(reply, self.planning, self.after_plan);
        let allowed = response["behavior"] == "allow";
        Self::respond(key, &response, out);
        if !allowed {
            return;
        }
        if let Some(call) = &ask.call_id {
            out.facts.extend(self.calls.mark(call, ToolStatus::Running).map(Fact::Event));
        }
        if ask.is_plan() {
            self.reading = false;
        }
        let always = *reply == Reply::Permission(PermissionAnswer::Always);
        if always && ask.lasting(self.planning).is_empty() && self.allowed.len() < ALLOWED_MAX {
            self.allowed.push((ask.tool, ask.input));
        }
    }
}
