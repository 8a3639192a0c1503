//! Sessions over the Agent Client Protocol: for every agent that has no better protocol of its own.

mod content_block;
mod initialize;
mod mcp_servers;
mod message_builder;
mod open_requests;
mod pending_choices;
mod permission_request;
mod plan_files;
mod prompt_blocks;
mod prompt_result;
mod rpc_error;
mod rpc_message;
mod sent_requests;
mod session;
mod session_setup;
mod session_update;
#[cfg(test)]
mod tests;
mod tool_call_update;
mod tracked_tool_call;
mod turn;

use protocol::{
    InputId,
    sessions::{AgentError, PermissionMode},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Adapted, Adapter, Fact, Heard, Options, Order, Out, Prompt, Transport, lenient};
use content_block::ContentBlock;
use prompt_blocks::prompt_blocks;
use rpc_error::RpcError;
use rpc_message::RpcMessage;
use sent_requests::{SentRequest, SentRequests};
use session::AcpSession;
use session_update::SessionUpdate;
use turn::AcpTurn;

/// The beginning of gemini-cli's notice that the mode has changed.
const MODE_NOTICE: &str = "[MODE_UPDATE] ";

pub(super) fn adapt(options: &Options) -> Result<Adapted, AgentError> {
    Ok(Adapted {
        adapter: Box::new(Acp::new(options.clone())),
        transport: Transport::Lines,
        args: Vec::new(),
        env: Default::default(),
        files: Vec::new(),
    })
}

/// The adapter of an ACP agent.
struct Acp {
    session: AcpSession,
    turn: AcpTurn,
    sent: SentRequests,
}

/// The answer to `_session/steering`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SteeringResult {
    outcome: Option<String>,
}

impl Acp {
    fn new(options: Options) -> Self {
        Self {
            turn: AcpTurn::new(&options.run),
            session: AcpSession::new(options),
            sent: SentRequests::default(),
        }
    }

    fn begin_turn(&mut self, prompt: &Prompt, out: &mut Out) {
        self.turn.begin(prompt.id, out);
        let params = self.prompt_params(prompt);
        self.sent.send("session/prompt", &params, SentRequest::Prompt(prompt.id), out);
    }

    fn steer(&mut self, prompt: &Prompt, out: &mut Out) {
        self.turn.message.end_turn(out);
        let params = self.prompt_params(prompt);
        self.sent.send("_session/steering", &params, SentRequest::Steer(prompt.id), out);
    }

    fn prompt_params(&self, prompt: &Prompt) -> Value {
        let blocks = prompt_blocks(&self.session.options.directory, prompt);
        json!({ "sessionId": self.session.id, "prompt": blocks })
    }

    /// Handles the response to a request of the adapter.
    fn handle_response(&mut self, line: &[u8], id: &Value, outcome: Result<Value, RpcError>, out: &mut Out) {
        let Some(request) = self.sent.take(id) else {
            return self.turn.message.add_unparsed(line, "a response to an unknown request", out);
        };
        match (request, outcome) {
            (SentRequest::Initialize, Ok(result)) => self.session.initialized(&result, &mut self.sent, out),
            (SentRequest::Initialize, Err(error)) => {
                out.facts.push(Fact::Failed(error.into_agent_error()));
            }
            (SentRequest::OpenSession { resumed }, Ok(result)) => {
                self.session.opened(resumed, &result, &mut self.sent, out);
            }
            (SentRequest::OpenSession { resumed }, Err(error)) => {
                self.session.open_failed(resumed, error, &mut self.sent, out);
            }
            (SentRequest::Choice(feature), outcome) => {
                self.session.choice_set(feature, outcome, &mut self.sent, out);
            }
            (SentRequest::Prompt(input), outcome) => self.turn.end(input, outcome, out),
            (SentRequest::Steer(input), outcome) => out.facts.push(steered(input, outcome)),
        }
    }

    /// Handles a request of the agent, which `line` carried.
    fn handle_request(&mut self, line: &[u8], id: &Value, method: &str, params: &Value, out: &mut Out) {
        match method {
            "session/request_permission" => {
                let allows_all = self.session.options.permission_mode == PermissionMode::Bypass;
                self.turn.request_permission(id, params, allows_all, out);
            }
            "elicitation/create" => self.turn.requests.ask_form(line, id, params, out),
            _ => {
                out.line(&rpc_message::method_not_found(id, method));
                let error = format!("there is no method `{method}`");
                self.turn.message.add_unparsed(line, error, out);
            }
        }
    }

    /// Handles a notification of the agent, which `line` carried.
    fn handle_notification(&mut self, line: &[u8], method: &str, params: &Value, out: &mut Out) {
        match method {
            "session/update" => {
                let update = SessionUpdate::from_params(params);
                if !self.session.is_loading && !self.is_mode_notice(&update) {
                    self.turn.apply_update(line, update, out);
                }
            }
            "$/cancel_request" => self.turn.requests.withdraw(params, out),
            // An extension of the protocol, which has no meaning outside the agent.
            _ if method.starts_with('_') => {}
            _ => {
                let error = format!("there is no notification `{method}`");
                self.turn.message.add_unparsed(line, error, out);
            }
        }
    }

    /// Whether an update is gemini-cli's notice that the mode has changed, which looks like text of the model.
    fn is_mode_notice(&self, update: &SessionUpdate) -> bool {
        let SessionUpdate::MessageChunk(ContentBlock::Text { text }) = update else { return false };
        text.strip_prefix(MODE_NOTICE).is_some_and(|mode| self.session.has_mode(mode))
    }
}

impl Adapter for Acp {
    fn start(&mut self, out: &mut Out) {
        self.session.initialize(&mut self.sent, out);
    }

    fn turn_begins(&mut self, out: &mut Out) {
        self.turn.end_greeting(out);
    }

    fn hear(&mut self, heard: Heard<'_>, out: &mut Out) {
        let line = match heard {
            Heard::Line(line) => line,
            Heard::TooLong { bytes } => {
                let error = format!("a line of {bytes} bytes was too long");
                return self.turn.message.add_unparsed(b"null", error, out);
            }
            Heard::Answer { .. } => return,
        };
        match RpcMessage::from_line(line) {
            Ok(RpcMessage::Request { id, method, params }) => {
                self.handle_request(line, &id, &method, &params, out);
            }
            Ok(RpcMessage::Notification { method, params }) => {
                self.handle_notification(line, &method, &params, out);
            }
            Ok(RpcMessage::Response { id, outcome }) => self.handle_response(line, &id, outcome, out),
            Err(error) => self.turn.message.add_unparsed(line, error, out),
        }
    }

    fn steers(&self) -> bool {
        self.session.supports_steering
    }

    fn tell(&mut self, order: Order, out: &mut Out) {
        match order {
            Order::Prompt(prompt) => self.begin_turn(&prompt, out),
            Order::Steer(prompt) => self.steer(&prompt, out),
            Order::Interrupt => {
                let params = json!({ "sessionId": self.session.id });
                out.line(&rpc_message::notification("session/cancel", &params));
                self.turn.requests.cancel_all(out);
            }
            Order::Answer { key, reply } => self.turn.requests.answer(&key, &reply, out),
        }
    }
}

/// Reports whether the agent added an input to its turn.
fn steered(input: InputId, outcome: Result<Value, RpcError>) -> Fact {
    let reason = match outcome {
        Ok(result) => {
            let SteeringResult { outcome } = lenient::object(&result);
            if outcome.as_deref() != Some("rejected") {
                return Fact::Consumed(input);
            }
            "the agent rejected it".into()
        }
        Err(error) => error.into_message(),
    };
    Fact::Refused { input, reason }
}
