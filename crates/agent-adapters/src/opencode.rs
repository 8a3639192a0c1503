//! Sessions over OpenCode's server, which many sessions share.
//!
//! Before a session is ready the adapter asks the server for the modes of the directory and for the configured model, and
//! creates or resumes the session ([`session_start`]). From then on a line is an event of the server's stream: events of
//! other sessions are skipped without being parsed. The sessions of subagents belong to the session.
//!
//! The adapter and not the user's configuration decides about permissions ([`permission_policy`]): the server requests
//! each, and the adapter answers where no person needs to decide.

mod messages;
mod model_list;
mod open_requests;
mod permission_policy;
mod prompt_queue;
mod server_calls;
mod server_config;
mod session_start;
mod tool_calls;
mod turn;
mod turn_fault;
mod wire_event;
mod wire_message;
mod wire_request;
mod wire_session;

use std::collections::HashMap;

use memchr::memmem;
use protocol::{
    Event,
    event::{AgentPlan, PlanStep},
    sessions::AgentError,
};

use self::{
    messages::OpencodeMessages,
    open_requests::OpencodeRequests,
    permission_policy::PermissionPolicy,
    prompt_queue::PromptQueue,
    server_calls::OpencodeCalls,
    turn::OpencodeTurn,
    wire_event::{OpencodeEvent, OpencodeEventEnvelope, OpencodeStatus, OpencodeStatusKind, OpencodeTodo},
    wire_session::SessionInfo,
};
use super::{Adapted, Adapter, Heard, Offers, Options, Order, Out, Transport};

pub(super) fn adapt(options: &Options) -> Result<Adapted, AgentError> {
    Ok(Adapted {
        adapter: Box::new(OpencodeAdapter::new(options)),
        transport: Transport::Server,
        // The system chooses the port; the server prints it.
        args: ["--hostname", "127.0.0.1", "--port", "0"].map(Into::into).into(),
        env: server_config::env(options),
        files: Vec::new(),
    })
}

/// A session of the server.
struct OpencodeAdapter {
    run: String,
    /// `?directory=…`, for every request.
    directory: String,
    resume: Option<String>,
    has_mcp: bool,
    /// Whether to request the models although the session chooses none.
    asks_models: bool,
    offers: Offers,
    prompts: PromptQueue,
    calls: OpencodeCalls,
    /// The server's id of the session, once it is known.
    session: Option<String>,
    /// The sessions of subagents, with the call that started each.
    children: HashMap<String, Option<String>>,
    turn: Option<OpencodeTurn>,
    /// The newest user message of the turns that have ended.
    last_answered: String,
    has_last_turn_failed: bool,
    messages: OpencodeMessages,
    requests: OpencodeRequests,
    policy: PermissionPolicy,
    unparsed_count: u64,
}

impl OpencodeAdapter {
    fn new(options: &Options) -> Self {
        Self {
            run: options.run.clone(),
            directory: server_calls::directory_query(&options.directory),
            resume: options.resume.clone(),
            has_mcp: !options.mcp.is_empty(),
            asks_models: options.asks_models,
            offers: Offers::default(),
            prompts: PromptQueue::new(options),
            calls: OpencodeCalls::default(),
            session: None,
            children: HashMap::new(),
            turn: None,
            last_answered: String::new(),
            has_last_turn_failed: false,
            messages: OpencodeMessages::new(options.mcp.keys()),
            requests: OpencodeRequests::default(),
            policy: PermissionPolicy::new(options.permission_mode),
            unparsed_count: 0,
        }
    }

    /// Whether a line may be about the session. Looks at the bytes alone, because most lines are about other sessions.
    fn may_concern(&self, line: &[u8]) -> bool {
        let mut sessions = self.session.iter().chain(self.children.keys());
        sessions.any(|session| memmem::find(line, session.as_bytes()).is_some())
    }

    fn handle_line(&mut self, line: &[u8], out: &mut Out) {
        if line.first() == Some(&b'{') && (!self.may_concern(line) || is_copy(line)) {
            return;
        }
        let envelope = match OpencodeEventEnvelope::parse(line) {
            Ok(envelope) => envelope,
            Err(error) => return self.add_unparsed(line, error, out),
        };
        if let Some(created) = envelope.created_session() {
            return self.session_created(created);
        }
        let session = envelope.session_id().unwrap_or_default();
        if !self.is_own(&session) && !self.children.contains_key(&session) {
            return; // The event of another session mentions ours.
        }
        if !self.handle_event(&session, envelope.into_event(), out) {
            self.add_unparsed(line, "an event of an unknown type", out);
        }
    }

    /// Whether a session is the adapter's own and not that of a subagent.
    fn is_own(&self, session: &str) -> bool {
        self.session.as_deref() == Some(session)
    }

    /// Handles an event of the session or of a subagent's. Returns whether it is understood.
    fn handle_event(&mut self, session: &str, event: OpencodeEvent, out: &mut Out) -> bool {
        match event {
            OpencodeEvent::MessageUpdated(info) => return self.message_updated(session, &info, out),
            OpencodeEvent::PartUpdated(part) => return self.part_updated(session, part, out),
            OpencodeEvent::PartDelta(delta) => return self.messages.append(delta, out),
            OpencodeEvent::PermissionAsked(asked) => return self.permission_asked(asked, out),
            OpencodeEvent::QuestionAsked(asked) => return self.question_asked(asked, out),
            OpencodeEvent::RequestSettled { request_id: Some(id) } => self.requests.settle(&id, out),
            OpencodeEvent::RequestSettled { request_id: None } | OpencodeEvent::Unknown => return false,
            OpencodeEvent::TodosUpdated(todos) if self.is_own(session) => out.event(Event::Plan(plan(todos))),
            OpencodeEvent::StatusChanged(status) if self.is_own(session) => self.status_changed(&status, out),
            OpencodeEvent::Idle if self.is_own(session) => self.server_idle(out),
            OpencodeEvent::Error(error) if self.is_own(session) => self.session_failed(&error, out),
            // The call that started a subagent reports how the subagent ended.
            OpencodeEvent::TodosUpdated(_)
            | OpencodeEvent::StatusChanged(_)
            | OpencodeEvent::Idle
            | OpencodeEvent::Error(_)
            | OpencodeEvent::Ignored => {}
        }
        true
    }

    /// Records a new session if it belongs to a subagent of ours.
    fn session_created(&mut self, info: SessionInfo) {
        let (Some(id), Some(parent)) = (info.id, info.parent_id) else { return };
        if self.is_own(&parent) || self.children.contains_key(&parent) {
            self.children.entry(id).or_default();
        }
    }

    fn status_changed(&mut self, status: &OpencodeStatus, out: &mut Out) {
        match status.kind {
            Some(OpencodeStatusKind::Busy) => self.server_busy(out),
            Some(OpencodeStatusKind::Retry) => self.server_retries(status, out),
            Some(OpencodeStatusKind::Other) | None => {}
        }
    }

    fn add_unparsed(&mut self, output: &[u8], error: &str, out: &mut Out) {
        self.unparsed_count += 1;
        out.unparsed(format!("{}.{}", self.run, self.unparsed_count), output, error);
    }
}

impl Adapter for OpencodeAdapter {
    fn start(&mut self, out: &mut Out) {
        self.list_modes(out);
    }

    fn hear(&mut self, heard: Heard<'_>, out: &mut Out) {
        match heard {
            Heard::Line(line) => self.handle_line(line, out),
            Heard::TooLong { bytes } => {
                let output = format!("an event of {bytes} bytes");
                self.add_unparsed(output.as_bytes(), "too long", out);
            }
            Heard::Answer { call, status, body } => self.handle_answer(call, status, body, out),
        }
    }

    fn tell(&mut self, order: Order, out: &mut Out) {
        match order {
            Order::Prompt(prompt) => {
                self.turn = Some(OpencodeTurn::default());
                self.send_prompt(&prompt, out);
            }
            Order::Steer(prompt) => self.send_prompt(&prompt, out),
            Order::Interrupt => self.interrupt(out),
            Order::Answer { key, reply } => self.answer_request(&key, reply, out),
        }
    }
}

/// Whether a line is the copy of an event for other servers, which every second line is.
fn is_copy(line: &[u8]) -> bool {
    memmem::find(line, br#""payload":{"type":"sync""#).is_some()
}

fn plan(todos: Vec<OpencodeTodo>) -> AgentPlan {
    let step = |todo: OpencodeTodo| PlanStep { state: todo.state(), text: todo.content.unwrap_or_default() };
    AgentPlan { steps: todos.into_iter().map(step).collect() }
}

#[cfg(test)]
mod tests;
