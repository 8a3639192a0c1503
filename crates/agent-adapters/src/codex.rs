//! Sessions over Codex's app server, which speaks JSON-RPC in lines.
//!
//! A process holds one thread of the session. Subagents have threads of their own; their items become messages inside the
//! call that started them. Codex has no approval of plans: the adapter keeps a turn with a plan open, asks a person about
//! it, and starts another of Codex's turns within the same turn of the session.

mod approval_requests;
mod command_action;
mod file_changes;
mod item_content;
mod item_messages;
mod json_rpc_line;
mod mcp_servers;
mod message_parts;
mod model_list;
mod notification;
mod notification_handler;
mod open_item;
mod open_requests;
mod response;
mod server_request;
mod session_settings;
mod session_start;
mod subagent_threads;
mod thread_item;
mod token_meter;
mod tool_calls;
mod turn;
mod turn_error;
mod turn_input;

use std::collections::{BTreeMap, BTreeSet};

use protocol::{
    Event, InputId,
    event::SessionStatus,
    sessions::{AgentError, SessionState},
};
use serde::Serialize;
use serde_json::{Value, json};

use self::{
    item_messages::ItemMessages, json_rpc_line::CodexLine, model_list::CodexModels,
    notification::CodexNotification, open_requests::OpenCodexRequests, server_request::CodexServerRequest,
    session_settings::CodexSettings, token_meter::TokenMeter, turn::CodexTurn,
};
use super::{Adapted, Adapter, Fact, Heard, Options, Order, Out, Reply, Transport};

pub(super) use session_settings::modes;

pub(super) fn adapt(options: &Options) -> Result<Adapted, AgentError> {
    let settings = CodexSettings::new(options)?;
    let args = settings.args();
    let adapter = Box::new(CodexAdapter::new(settings));
    let (env, files) = Default::default();
    Ok(Adapted { adapter, transport: Transport::Lines, args, env, files })
}

/// An app server with one thread.
struct CodexAdapter {
    settings: CodexSettings,
    /// The id of our last request.
    last_request_id: u64,
    /// Our requests without a response. Codex may never respond to an interrupt, whose entry then stays.
    pending: BTreeMap<u64, PendingRequest>,
    version: Option<String>,
    /// Codex's models, once it has listed them.
    models: Option<CodexModels>,
    /// The id of the session's thread.
    thread: Option<String>,
    /// The session's MCP servers that have neither started nor failed to. Codex waits for them no longer than a second and
    /// then works without their tools; it reports the outcome of each.
    starting_servers: BTreeSet<String>,
    turn: Option<CodexTurn>,
    items: ItemMessages,
    requests: OpenCodexRequests,
    meter: TokenMeter,
}

/// One of our requests, which determines how the response is handled.
enum PendingRequest {
    Initialize,
    AccountRead,
    Login,
    SkillRoots,
    ModelList,
    ThreadResume,
    ThreadStart,
    /// The input that begins the turn, unless the adapter itself began it.
    TurnStart(Option<InputId>),
    Steer(InputId),
    /// A request whose outcome comes as a notification.
    Ignored,
}

impl Adapter for CodexAdapter {
    fn start(&mut self, out: &mut Out) {
        let params = session_settings::initialize_params();
        self.request("initialize", &params, PendingRequest::Initialize, out);
    }

    fn hear(&mut self, heard: Heard<'_>, out: &mut Out) {
        let line = match heard {
            Heard::Line(line) => line,
            Heard::TooLong { bytes } => {
                let error = format!("a line of {bytes} bytes is too long");
                return out.unparsed(self.items.next_message_id(), b"", error);
            }
            // The adapter makes no HTTP requests.
            Heard::Answer { .. } => return,
        };
        if let Err(error) = self.handle_line(line, out) {
            out.unparsed(self.items.next_message_id(), line, error);
        }
    }

    fn tell(&mut self, order: Order, out: &mut Out) {
        match order {
            Order::Prompt(prompt) => self.start_turn(&prompt, out),
            Order::Steer(prompt) => self.steer(prompt, out),
            Order::Interrupt => self.interrupt(out),
            Order::Answer { key, reply } => self.answer_request(&key, &reply, out),
        }
    }
}

impl CodexAdapter {
    fn new(settings: CodexSettings) -> Self {
        let items = ItemMessages::new(settings.run.clone());
        let starting_servers = settings.enabled_servers();
        Self {
            settings,
            last_request_id: 0,
            pending: BTreeMap::new(),
            version: None,
            models: None,
            thread: None,
            starting_servers,
            turn: None,
            items,
            requests: OpenCodexRequests::default(),
            meter: TokenMeter::default(),
        }
    }

    /// Handles a line. The error describes why it is not understood.
    fn handle_line(&mut self, line: &[u8], out: &mut Out) -> Result<(), String> {
        match CodexLine::parse(line)? {
            CodexLine::Response { id, outcome } => self.handle_response(id, outcome, out),
            CodexLine::Request { id, method, params } => self.handle_request(line, id, &method, &params, out),
            CodexLine::Notification { method, params } => {
                let notification = CodexNotification::parse(&method, &params);
                self.handle_notification(&method, notification, out)
            }
        }
    }

    fn request(&mut self, method: &str, params: &impl Serialize, pending: PendingRequest, out: &mut Out) {
        self.last_request_id += 1;
        self.pending.insert(self.last_request_id, pending);
        out.line(&json!({ "id": self.last_request_id, "method": method, "params": params }));
    }

    /// Handles a request. Codex gets an error for an unknown one, because it would wait for ever otherwise.
    fn handle_request(
        &mut self,
        line: &[u8],
        id: Value,
        method: &str,
        params: &Value,
        out: &mut Out,
    ) -> Result<(), String> {
        let converted = CodexServerRequest::parse(method, params)
            .and_then(|request| approval_requests::convert(request, line, &mut self.items, out));
        match converted {
            Ok((expected, asking)) => {
                let key = self.requests.open(id, expected);
                out.facts.push(Fact::Asked { key, asking });
                Ok(())
            }
            Err(error) => {
                out.line(&json_rpc_line::error_response(&id, &error));
                Err(error)
            }
        }
    }

    fn answer_request(&mut self, key: &str, reply: &Reply, out: &mut Out) {
        if self.turn.as_ref().is_some_and(|turn| turn.plan_key() == Some(key)) {
            return self.plan_answered(reply, out);
        }
        // Codex no longer waits for an answer to a request that is not open.
        if let Some(request) = self.requests.close(key) {
            out.line(&json_rpc_line::result_response(&request.id, &request.expected.response(reply)));
            request.expected.update_call(reply, &mut self.items, out);
        }
    }

    /// Sends people a status, which is not part of the transcript.
    fn send_status(&self, detail: impl Into<String>, out: &mut Out) {
        let state = match (&self.thread, &self.turn) {
            (None, _) => SessionState::Starting,
            (Some(_), None) => SessionState::Idle,
            (Some(_), Some(_)) => SessionState::Running,
        };
        out.event(Event::Status(SessionStatus { state, detail: Some(detail.into()) }));
    }
}

#[cfg(test)]
mod tests;
