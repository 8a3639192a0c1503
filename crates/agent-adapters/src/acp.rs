//! Sessions over the Agent Client Protocol: what every agent speaks that has no better protocol of its own.

mod asks;
mod plan_files;
mod setup;
mod speech;
#[cfg(test)]
mod tests;
mod tools;

use std::collections::HashMap;

use protocol::{
    Event, InputId,
    event::{
        AgentCommand, AgentPlan, AgentStarted, CommandsUpdated, PlanStep, PlanStepState, TokenUsage,
        TurnEndReason,
    },
    sessions::{AgentError, MessageAttachment, PermissionMode},
};
use serde_json::{Value, json};

use super::{
    Adapted, Adapter, Fact, Heard, Options, Order, Out, Prompt, Transport, mcp_unavailable, unsupported,
};
use asks::Asks;
use plan_files::PlanFiles;
use setup::Setup;
use speech::Speech;

/// The version of the protocol that is spoken.
const VERSION: u64 = 1;

/// How gemini-cli's notice begins that the mode has changed.
const MODE_NOTICE: &str = "[MODE_UPDATE] ";

/// The code of an error that says: log in first.
const AUTH_REQUIRED: i64 = -32000;

pub(super) fn adapt(options: &Options) -> Result<Adapted, AgentError> {
    Ok(Adapted {
        adapter: Box::new(Acp::new(options.clone())),
        transport: Transport::Lines,
        args: Vec::new(),
        env: Default::default(),
        files: Vec::new(),
    })
}

/// What a request of ours was for.
enum Pending {
    Initialize,
    /// A new session, or one that goes on.
    Open {
        resumed: bool,
    },
    /// One of the wishes of the options.
    Wish(&'static str),
    Prompt(InputId),
    Steer(InputId),
}

struct Acp {
    options: Options,
    next: u64,
    pending: HashMap<u64, Pending>,
    session: Option<String>,
    version: Option<String>,
    /// What an agent can do, as it says itself.
    can: Value,
    /// Whether it has `_session/steering`, as it says itself: the method is an extension of the protocol.
    steers: bool,
    setup: Option<Setup>,
    /// What is told while an old session is loaded was told before.
    loading: bool,
    ready: bool,
    prompt: Option<InputId>,
    /// The prompt of which the agent has not shown yet that it works on it.
    unseen: Option<InputId>,
    speech: Speech,
    asks: Asks,
    plan_files: PlanFiles,
    usage: TokenUsage,
}

impl Acp {
    fn new(options: Options) -> Self {
        Self {
            speech: Speech::new(&options.run),
            options,
            next: 0,
            pending: HashMap::new(),
            session: None,
            version: None,
            can: Value::Null,
            steers: false,
            setup: None,
            loading: false,
            ready: false,
            prompt: None,
            unseen: None,
            asks: Asks::default(),
            plan_files: PlanFiles::default(),
            usage: TokenUsage::default(),
        }
    }

    fn request(&mut self, method: &str, params: &Value, what: Pending, out: &mut Out) {
        self.next += 1;
        self.pending.insert(self.next, what);
        out.line(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
    }

    fn answered(&mut self, id: u64, message: &Value, out: &mut Out) {
        let Some(what) = self.pending.remove(&id) else {
            return out.unparsed(
                self.speech.name(),
                message.to_string().as_bytes(),
                "a response to an unknown request",
            );
        };
        let outcome = match message.get("error") {
            Some(error) => Err(error),
            None => Ok(&message["result"]),
        };
        match (what, outcome) {
            (Pending::Initialize, Ok(result)) => self.initialized(result, out),
            (Pending::Open { resumed }, Ok(result)) => self.opened(resumed, result, out),
            (Pending::Open { resumed: true }, Err(error)) => {
                // It is gone; a new one is better than none, and is told as such.
                let message = text(&error["message"]);
                out.event(Event::Error(AgentError::ResumeFailed { message }));
                self.loading = false;
                self.options.resume = None;
                self.open(out);
            }
            (Pending::Initialize | Pending::Open { .. }, Err(error)) => {
                out.facts.push(Fact::Failed(failure(error)))
            }
            (Pending::Wish(_), Ok(result)) => {
                if let Some(setup) = &mut self.setup {
                    setup.update(result);
                }
                self.wish(out);
            }
            (Pending::Wish(feature), Err(error)) => {
                out.facts.push(Fact::Failed(unsupported(feature, text(&error["message"]))));
            }
            (Pending::Prompt(input), outcome) => self.ended(input, outcome, out),
            (Pending::Steer(input), Ok(result)) if result["outcome"] != "rejected" => {
                out.facts.push(Fact::Consumed(input));
            }
            (Pending::Steer(input), outcome) => {
                let reason =
                    outcome.map_or_else(|error| text(&error["message"]), |_| "it was not taken".into());
                out.facts.push(Fact::Refused { input, reason });
            }
        }
    }

    fn initialized(&mut self, result: &Value, out: &mut Out) {
        self.can = result["agentCapabilities"].clone();
        self.steers = result["_meta"]["steering"]["supported"] == true;
        self.version = result["agentInfo"]["version"].as_str().map(str::to_owned);
        for (server, transport) in setup::unreachable(&self.options.mcp, &self.can["mcpCapabilities"]) {
            let message = format!("the agent does not support MCP over {transport}");
            out.facts.push(mcp_unavailable(server, message));
        }
        self.open(out);
    }

    fn open(&mut self, out: &mut Out) {
        let servers = setup::servers(&self.options.mcp, &self.can["mcpCapabilities"]);
        let mut params = json!({ "cwd": self.options.directory, "mcpServers": servers });
        let Some(resume) = self.options.resume.clone() else {
            return self.request("session/new", &params, Pending::Open { resumed: false }, out);
        };
        params["sessionId"] = resume.into();
        if self.can["sessionCapabilities"]["resume"].is_object() {
            self.request("session/resume", &params, Pending::Open { resumed: true }, out);
        } else if self.can["loadSession"] == true {
            self.loading = true;
            self.request("session/load", &params, Pending::Open { resumed: true }, out);
        } else {
            let message = "the agent cannot go on with an earlier conversation".into();
            out.event(Event::Error(AgentError::ResumeFailed { message }));
            self.options.resume = None;
            self.open(out);
        }
    }

    fn opened(&mut self, resumed: bool, result: &Value, out: &mut Out) {
        self.loading = false;
        let named = result["sessionId"].as_str().map(str::to_owned);
        self.session = named.or_else(|| self.options.resume.clone());
        let setup = Setup::new(&self.options, result);
        out.facts.push(Fact::Offers(setup.offers()));
        self.setup = Some(setup);
        let started = AgentStarted {
            model: setup::current(result, "model"),
            mode: setup::current(result, "mode"),
            version: self.version.clone(),
            resumed,
        };
        out.facts.push(Fact::Started { agent_session_id: self.session.clone(), started });
        self.wish(out);
    }

    /// Sets the next thing that was wished for; with none left the agent can be told things.
    fn wish(&mut self, out: &mut Out) {
        let wish = match self.setup.as_mut().map_or(Ok(None), Setup::next) {
            Ok(Some(wish)) => wish,
            Ok(None) => {
                if !self.ready {
                    self.ready = true;
                    out.facts.push(Fact::Ready);
                }
                return;
            }
            Err(error) => return out.facts.push(Fact::Failed(error)),
        };
        let mut params = wish.params;
        params["sessionId"] = self.session.clone().into();
        self.request(wish.method, &params, Pending::Wish(wish.feature), out);
    }

    fn prompt(&mut self, prompt: &Prompt, out: &mut Out) {
        let params = json!({ "sessionId": self.session, "prompt": self.blocks(prompt) });
        // An agent that was started again in the middle of a turn may have said something before it gets the prompt.
        self.turn_begins(out);
        self.prompt = Some(prompt.id);
        self.unseen = Some(prompt.id);
        self.request("session/prompt", &params, Pending::Prompt(prompt.id), out);
    }

    fn blocks(&self, prompt: &Prompt) -> Vec<Value> {
        let attached = prompt.attachments.iter().map(|attachment| match attachment {
            MessageAttachment::Text { name, text } => json!({ "type": "text",
                "text": name.as_ref().map_or_else(|| text.clone(), |name| format!("{name}:\n{text}")) }),
            MessageAttachment::File { path } => {
                let path = self.options.directory.join(path);
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                json!({ "type": "resource_link", "name": name, "uri": format!("file://{}", path.display()) })
            }
            MessageAttachment::Image { mime_type, data } => {
                json!({ "type": "image", "mimeType": mime_type, "data": data })
            }
        });
        std::iter::once(json!({ "type": "text", "text": prompt.text })).chain(attached).collect()
    }

    fn ended(&mut self, input: InputId, outcome: Result<&Value, &Value>, out: &mut Out) {
        self.seen(out);
        self.speech.end(out);
        self.asks.withdraw_all(out);
        if self.prompt == Some(input) {
            self.prompt = None;
        }
        let (reason, error) = match outcome {
            Ok(result) => (end_reason(result["stopReason"].as_str().unwrap_or_default()), None),
            Err(error) => (TurnEndReason::Failed, Some(failure(error))),
        };
        let usage = outcome.ok().and_then(|result| self.usage(result));
        out.facts.push(Fact::TurnEnded { reason, usage, error });
    }

    fn usage(&self, result: &Value) -> Option<TokenUsage> {
        let count = |value: &Value, name: &str| value[name].as_u64();
        let told = &result["usage"];
        let quota = &result["_meta"]["quota"]["token_count"];
        let input = count(told, "inputTokens").or(count(quota, "input_tokens"));
        let output = count(told, "outputTokens").or(count(quota, "output_tokens"));
        if input.is_none() && output.is_none() && self.usage == TokenUsage::default() {
            return None;
        }
        Some(TokenUsage {
            input_tokens: input.unwrap_or_default(),
            output_tokens: output.unwrap_or_default(),
            cached_tokens: count(told, "cachedReadTokens").unwrap_or_default(),
            reasoning_tokens: count(told, "thoughtTokens").unwrap_or_default(),
            ..self.usage
        })
    }

    /// The agent shows that it works on what it was told.
    fn seen(&mut self, out: &mut Out) {
        out.facts.extend(self.unseen.take().map(Fact::Consumed));
    }

    fn updated(&mut self, line: &[u8], update: &Value, out: &mut Out) {
        if self.loading {
            return;
        }
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        if self.prompt.is_some() && !matches!(kind, "available_commands_update" | "session_info_update") {
            self.seen(out);
        }
        match kind {
            "agent_message_chunk" if self.is_mode_notice(&update["content"]) => {}
            "agent_message_chunk" => self.speech.say(&update["content"], false, out),
            "agent_thought_chunk" => self.speech.say(&update["content"], true, out),
            "tool_call" | "tool_call_update" => {
                self.plan_files.note(update);
                self.speech.tool(update, out);
            }
            "plan" => out.event(Event::Plan(plan(update))),
            "available_commands_update" => out.event(Event::CommandsUpdated(commands(update))),
            "usage_update" => {
                self.usage.context_tokens = update["used"].as_u64();
                self.usage.context_window = update["size"].as_u64();
            }
            // What we said ourselves, and what nobody asked for.
            "user_message_chunk" | "current_mode_update" | "config_option_update" | "session_info_update" => {
            }
            _ => out.unparsed(self.speech.name(), line, format!("there is no update `{kind}`")),
        }
    }

    /// Whether a text is gemini-cli's notice that the mode has changed, which it sends as if the model had said it.
    fn is_mode_notice(&self, content: &Value) -> bool {
        let mode = content["text"].as_str().and_then(|text| text.strip_prefix(MODE_NOTICE));
        mode.is_some_and(|mode| self.setup.as_ref().is_some_and(|setup| setup.has_mode(mode)))
    }

    /// The agent asks something of us.
    fn asked(&mut self, line: &[u8], message: &Value, out: &mut Out) {
        let (id, params) = (&message["id"], &message["params"]);
        match message["method"].as_str().unwrap_or_default() {
            "session/request_permission" => {
                self.seen(out);
                let mut call = params["toolCall"].clone();
                // What goes with the question describes the call; it is no result of it, unless it is a change.
                if let Some(contents) = call["content"].as_array_mut() {
                    contents.retain(|content| content["type"] == "diff");
                }
                self.speech.tool(&call, out);
                let free = self.options.permission_mode == PermissionMode::Bypass;
                let plan = self.plan_files.plan_of(&params["toolCall"]);
                self.asks.permission(id, params, plan, free, out);
            }
            "elicitation/create" => self.asks.form(line, id, params, out),
            method => {
                let error = json!({ "code": -32601, "message": format!("there is no method `{method}`") });
                out.line(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
                out.unparsed(self.speech.name(), line, format!("there is no method `{method}`"));
            }
        }
    }

    fn told(&mut self, line: &[u8], message: &Value, out: &mut Out) {
        let params = &message["params"];
        match message["method"].as_str().unwrap_or_default() {
            "session/update" => self.updated(line, &params["update"], out),
            "$/cancel_request" => self.asks.withdraw(&params["requestId"], out),
            // Notifications of an agent's own, which mean nothing to anybody else.
            method if method.starts_with('_') => {}
            method => out.unparsed(self.speech.name(), line, format!("there is no notification `{method}`")),
        }
    }
}

impl Adapter for Acp {
    fn start(&mut self, out: &mut Out) {
        let params = json!({
            "protocolVersion": VERSION,
            "clientCapabilities": {
                "fs": { "readTextFile": false, "writeTextFile": false },
                "terminal": false,
                "elicitation": { "form": {} },
            },
            "clientInfo": { "name": "tombolo", "title": "Tombolo", "version": env!("CARGO_PKG_VERSION") },
        });
        self.request("initialize", &params, Pending::Initialize, out);
    }

    fn turn_begins(&mut self, out: &mut Out) {
        if self.prompt.is_none() {
            self.speech.end_message(out);
        }
    }

    fn hear(&mut self, heard: Heard<'_>, out: &mut Out) {
        let line = match heard {
            Heard::Line(line) => line,
            Heard::TooLong { bytes } => {
                let error = format!("a line of {bytes} bytes was too long");
                return out.unparsed(self.speech.name(), b"null", error);
            }
            Heard::Answer { .. } => return,
        };
        let message: Value = match serde_json::from_slice(line) {
            Ok(message @ Value::Object(_)) => message,
            Ok(_) => return out.unparsed(self.speech.name(), line, "it is no message"),
            Err(error) => return out.unparsed(self.speech.name(), line, error.to_string()),
        };
        match (message.get("id").filter(|id| !id.is_null()), message["method"].is_string()) {
            (Some(_), true) => self.asked(line, &message, out),
            (Some(id), false) => match id.as_u64() {
                Some(id) => self.answered(id, &message, out),
                None => out.unparsed(self.speech.name(), line, "a response to an unknown request"),
            },
            (None, true) => self.told(line, &message, out),
            (None, false) => out.unparsed(self.speech.name(), line, "it is no message"),
        }
    }

    fn steers(&self) -> bool {
        self.steers
    }

    fn tell(&mut self, order: Order, out: &mut Out) {
        match order {
            Order::Prompt(prompt) => self.prompt(&prompt, out),
            Order::Steer(prompt) => {
                self.speech.end(out);
                let params = json!({ "sessionId": self.session, "prompt": self.blocks(&prompt) });
                self.request("_session/steering", &params, Pending::Steer(prompt.id), out);
            }
            Order::Interrupt => {
                let params = json!({ "sessionId": self.session });
                out.line(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": params }));
                self.asks.cancel_all(out);
            }
            Order::Answer { key, reply } => self.asks.answer(&key, &reply, out),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn end_reason(stop: &str) -> TurnEndReason {
    match stop {
        "end_turn" => TurnEndReason::Completed,
        "cancelled" => TurnEndReason::Interrupted,
        "max_tokens" | "max_turn_requests" => TurnEndReason::MaxTokens,
        "refusal" => TurnEndReason::Refused,
        _ => TurnEndReason::Other,
    }
}

/// What an error of the agent means.
fn failure(error: &Value) -> AgentError {
    let mut message = text(&error["message"]);
    if let Some(details) = error["data"]["details"].as_str().or(error["data"]["message"].as_str()) {
        message = format!("{message}: {details}");
    }
    let code = error["code"].as_i64().unwrap_or_default();
    let status = u16::try_from(code).ok().filter(|status| (400..600).contains(status));
    if code == AUTH_REQUIRED || super::is_token_error(status, &message) {
        return AgentError::TokenError { message };
    }
    match status.or_else(|| super::status_in(&message)) {
        Some(status) => AgentError::ModelError { status: Some(status), message },
        None => AgentError::Other { message },
    }
}

fn plan(update: &Value) -> AgentPlan {
    let entries = update["entries"].as_array().map(Vec::as_slice).unwrap_or_default();
    let step = |entry: &Value| PlanStep {
        text: text(&entry["content"]),
        state: match entry["status"].as_str().unwrap_or_default() {
            "completed" => PlanStepState::Completed,
            "in_progress" => PlanStepState::InProgress,
            _ => PlanStepState::Pending,
        },
    };
    AgentPlan { steps: entries.iter().map(step).collect() }
}

fn commands(update: &Value) -> CommandsUpdated {
    let all = update["availableCommands"].as_array().map(Vec::as_slice).unwrap_or_default();
    let command = |command: &Value| AgentCommand {
        name: text(&command["name"]),
        description: command["description"].as_str().map(str::to_owned),
        hint: command["input"]["hint"].as_str().map(str::to_owned),
    };
    CommandsUpdated { commands: all.iter().map(command).collect() }
}
