//! Sessions over Claude Code's stream of JSON with its control requests.
//!
//! One process lives as long as the session is used. A turn begins with a prompt, or without one when background work has ended,
//! and ends with a line of type `result`.

mod claude_line;
mod initialize_result;
mod launch;
mod line_handler;
mod model_failure;
mod partial_messages;
mod pending_inputs;
mod permission_rule;
mod system_line;
mod task_plan;
#[cfg(test)]
mod tests;
mod tool_request;
mod turn_result;

use std::collections::{BTreeMap, BTreeSet};

use protocol::{
    Event, InputId,
    event::{SessionStatus, TokenUsage, TurnEndReason},
    message::ToolStatus,
    sessions::{AgentError, PermissionMode, SessionState},
    wait::PermissionAnswer,
};
use serde_json::{Value, json};

use super::{
    Adapted, Adapter, Fact, Heard, Options, Order, Out, Prompt, Reply, Transport,
    message_ids::MessageIds,
    stream_json::{self, mcp_servers::enabled_servers, open_calls::OpenCalls, prompt_blocks::prompt_blocks},
};
use model_failure::ModelFailure;
use partial_messages::PartialMessages;
use pending_inputs::PendingInputs;
use task_plan::TaskPlan;
use tool_request::{ClaudeToolRequest, deny, is_allowed};

pub(super) use launch::modes;

/// How many single calls are remembered as always allowed, where the agent has no rule for them.
const ALLOWED_MAX: usize = 256;

/// The id of the first control request, whose response shows that the agent is ready.
const INITIALIZE: &str = "1";

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

/// The adapter of one process of Claude Code.
struct Claude {
    ids: MessageIds,
    /// The number of control requests so far, which is the id of the last one.
    control_requests: u64,
    is_resumed: bool,
    /// The MCP servers whose status Claude Code has not reported.
    awaited_servers: BTreeSet<String>,
    /// The chosen model.
    model: Option<String>,
    permission_mode: PermissionMode,
    /// The mode that follows the approval of a plan.
    after_plan: &'static str,
    /// Whether Claude Code is in plan mode.
    is_planning: bool,
    /// Whether the session is read-only until a plan is approved.
    is_read_only: bool,
    is_ready: bool,
    /// Claude Code's id of the session.
    session: Option<String>,
    turn: ClaudeTurn,
    inputs: PendingInputs,
    messages: PartialMessages,
    calls: OpenCalls,
    /// The requests that wait for an answer, by their ids.
    requests: BTreeMap<String, ClaudeToolRequest>,
    /// Calls that are always allowed, where the agent has no rule for them: tool and arguments.
    allowed: Vec<(String, Value)>,
    task_plan: TaskPlan,
    /// The tool calls of subagents that continue after their turn.
    background: BTreeSet<String>,
    /// The failure of the turn, until the turn ends.
    failure: Option<ModelFailure>,
    /// The size of the conversation after the last message.
    context_tokens: Option<u64>,
    /// Whether the published status has a detail.
    has_status_detail: bool,
}

/// Whether a turn runs, and its origin.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ClaudeTurn {
    Idle,
    Prompted(InputId),
    /// Claude Code began it, for example after background work.
    Unprompted,
}

impl Adapter for Claude {
    fn start(&mut self, out: &mut Out) {
        self.send_control_request(&json!({ "subtype": "initialize" }), out);
    }

    fn hear(&mut self, heard: Heard<'_>, out: &mut Out) {
        match stream_json::line(heard) {
            Ok(line) => self.handle_line(line, out),
            Err((received, error)) => out.unparsed(self.ids.mint(), received, error),
        }
    }

    fn tell(&mut self, order: Order, out: &mut Out) {
        match order {
            Order::Prompt(prompt) => {
                self.turn = ClaudeTurn::Prompted(prompt.id);
                self.send_prompt(&prompt, out);
            }
            Order::Steer(prompt) => self.send_prompt(&prompt, out),
            Order::Interrupt => self.send_control_request(&json!({ "subtype": "interrupt" }), out),
            Order::Answer { key, reply } => self.answer(&key, &reply, out),
        }
    }
}

impl Claude {
    fn new(options: &Options, after_plan: &'static str) -> Self {
        let is_read_only = options.permission_mode == PermissionMode::Plan;
        Self {
            ids: MessageIds::new(&options.run),
            control_requests: 0,
            is_resumed: options.resume.is_some(),
            awaited_servers: enabled_servers(&options.mcp).into_iter().map(|(name, _)| name).collect(),
            model: options.model.clone(),
            permission_mode: options.permission_mode,
            after_plan,
            is_planning: is_read_only || options.agent_mode == "plan",
            is_read_only,
            is_ready: false,
            session: None,
            turn: ClaudeTurn::Idle,
            inputs: PendingInputs::default(),
            messages: PartialMessages::default(),
            calls: OpenCalls::default(),
            requests: BTreeMap::new(),
            allowed: Vec::new(),
            task_plan: TaskPlan::default(),
            background: BTreeSet::new(),
            failure: None,
            context_tokens: None,
            has_status_detail: false,
        }
    }

    fn send_control_request(&mut self, request: &Value, out: &mut Out) {
        self.control_requests += 1;
        let id = self.control_requests.to_string();
        out.line(&json!({ "type": "control_request", "request_id": id, "request": request }));
    }

    fn send_control_response(request: &str, response: &Value, out: &mut Out) {
        let response = json!({ "subtype": "success", "request_id": request, "response": response });
        out.line(&json!({ "type": "control_response", "response": response }));
    }

    fn send_prompt(&mut self, prompt: &Prompt, out: &mut Out) {
        let uuid = self.inputs.push(prompt.id);
        let message = json!({ "role": "user", "content": prompt_blocks(prompt) });
        out.line(&json!({
            "type": "user", "message": message, "parent_tool_use_id": null, "session_id": "", "uuid": uuid,
        }));
    }

    /// Notes that the agent works: on the prompt, or in a turn of its own, which begins with that.
    fn note_work(&mut self, out: &mut Out) {
        match self.turn {
            ClaudeTurn::Idle => {
                self.turn = ClaudeTurn::Unprompted;
                out.facts.push(Fact::TurnStarted);
            }
            ClaudeTurn::Prompted(id) => {
                out.facts.extend(self.inputs.take_unreported(id).map(Fact::Consumed));
            }
            ClaudeTurn::Unprompted => {}
        }
    }

    fn end_turn(
        &mut self,
        reason: TurnEndReason,
        usage: Option<TokenUsage>,
        error: Option<AgentError>,
        out: &mut Out,
    ) {
        let has_background = !self.background.is_empty();
        for event in self.calls.cancel(|open| open.parent.is_none() || !has_background) {
            out.event(event);
        }
        (self.turn, self.has_status_detail) = (ClaudeTurn::Idle, false);
        out.facts.push(Fact::TurnEnded { reason, usage, error });
        // The end of the turn withdrew all requests, but those of subagents in the background are still open.
        self.requests.retain(|_, request| request.is_of_subagent);
        for (key, request) in &self.requests {
            out.facts.push(Fact::Asked { key: key.clone(), asking: request.asking(self.is_planning) });
        }
    }

    /// Publishes why the agent waits, or that it no longer does.
    fn set_status_detail(&mut self, detail: Option<String>, out: &mut Out) {
        if detail.is_none() && !self.has_status_detail {
            return;
        }
        self.has_status_detail = detail.is_some();
        let is_idle = self.turn == ClaudeTurn::Idle;
        let state = if is_idle { SessionState::Idle } else { SessionState::Running };
        out.event(Event::Status(SessionStatus { state, detail }));
    }

    /// Answers the agent's request to use a tool where the session's restriction decides it, and else asks a person.
    fn handle_tool_request(&mut self, key: &str, request: ClaudeToolRequest, out: &mut Out) {
        if !request.is_question() {
            let is_call = |(tool, input): &(String, Value)| *tool == request.tool && *input == request.input;
            if self.permission_mode == PermissionMode::Bypass || self.allowed.iter().any(is_call) {
                return Self::send_control_response(key, &request.allow(&[]), out);
            }
            if self.is_read_only && request.writes() {
                let denied = deny("Nothing may be changed or run until the user has approved a plan.");
                return Self::send_control_response(key, &denied, out);
            }
        }
        if let Some(call) = &request.call_id {
            out.facts.extend(self.calls.set_status(call, ToolStatus::Pending).map(Fact::Event));
        }
        out.facts.push(Fact::Asked { key: key.into(), asking: request.asking(self.is_planning) });
        self.requests.insert(key.into(), request);
    }

    /// Sends the agent a person's answer, unless the request has been withdrawn.
    fn answer(&mut self, key: &str, reply: &Reply, out: &mut Out) {
        let Some(request) = self.requests.remove(key) else { return };
        let response = request.response(reply, self.is_planning, self.after_plan);
        Self::send_control_response(key, &response, out);
        if !is_allowed(&response) {
            return;
        }
        if let Some(call) = &request.call_id {
            out.facts.extend(self.calls.set_status(call, ToolStatus::Running).map(Fact::Event));
        }
        if request.is_plan() {
            self.is_read_only = false;
        }
        let is_always = *reply == Reply::Permission(PermissionAnswer::Always);
        let has_no_rule = request.lasting_rules(self.is_planning).is_empty();
        if is_always && has_no_rule && self.allowed.len() < ALLOWED_MAX {
            self.allowed.push((request.tool, request.input));
        }
    }
}
