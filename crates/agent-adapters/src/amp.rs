//! Sessions over Amp's stream of JSON.
//!
//! One process lives as long as the session is used. Its messages are whole; a turn ends with a message without a tool call. Amp
//! asks no questions, and only a signal interrupts it, after which it exits.

mod launch;
mod run_result;
#[cfg(test)]
mod tests;
mod tool_output;

use std::collections::{BTreeSet, VecDeque};

use protocol::{
    InputId,
    agents::AgentMode,
    event::{AgentStarted, TokenUsage, TurnEndReason},
    message::MessageRole,
    sessions::AgentError,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Adapted, Adapter, Fact, Heard, Offers, Options, Order, Out, Prompt, Saying, Transport, lenient,
    message_ids::MessageIds,
    offers::{BUILD, mode},
    stream_json::{
        self,
        api_message::{ApiMessage, ApiUsage},
        mcp_servers::{McpServerStatus, enabled_servers, warn_of_failed},
        message,
        message_block::{MessageBlock, part},
        open_calls::OpenCalls,
        prompt_blocks::prompt_blocks,
    },
};
use launch::AmpLaunch;
use run_result::RunResult;

/// How many inputs are remembered. The worker holds back all but one and those that steer.
const INPUTS_MAX: usize = 256;

/// The beginning of Amp's prompt to log in, which would take the next input as the code.
const LOGIN_PROMPT: &[u8] = b"No API key found";

pub(super) fn adapt(options: &Options) -> Result<Adapted, AgentError> {
    let AmpLaunch { args, env, files } = launch::launch(options)?;
    let offers = Offers { modes: modes(&options.modes), models: None };
    let adapter = Box::new(Amp {
        offers,
        awaited_servers: enabled_servers(&options.mcp).into_iter().map(|(name, _)| name).collect(),
        ids: MessageIds::new(&options.run),
        is_resumed: options.resume.is_some(),
        has_started: false,
        is_running: false,
        is_leaving: false,
        inputs: VecDeque::new(),
        calls: OpenCalls::default(),
        usage: None,
    });
    Ok(Adapted { adapter, transport: Transport::Lines, args, env, files })
}

/// The modes that Amp accepts. They differ between versions; `row` lists those of the installed one.
pub(super) fn modes(row: &[AgentMode]) -> Vec<AgentMode> {
    let default = |id, name| mode(id, name, "Amp's own default mode");
    let mut modes = vec![default(BUILD, "Build"), default(launch::DEFAULT, "Default")];
    modes.extend_from_slice(row);
    modes
}

/// The adapter of one process of Amp.
struct Amp {
    offers: Offers,
    /// The MCP servers whose status Amp has not reported.
    awaited_servers: BTreeSet<String>,
    /// Ids for all messages: Amp names none.
    ids: MessageIds,
    is_resumed: bool,
    has_started: bool,
    /// Whether a turn runs.
    is_running: bool,
    /// Whether Amp is about to exit. Its further output is for a person at a terminal.
    is_leaving: bool,
    /// The inputs that Amp has not repeated, in order.
    inputs: VecDeque<InputId>,
    calls: OpenCalls,
    /// The tokens of the turn so far.
    usage: Option<TokenUsage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AmpLineKind {
    #[serde(rename = "type")]
    kind: String,
    subtype: String,
}

/// The first line.
#[derive(Default, Deserialize)]
#[serde(default)]
struct AmpInitLine {
    #[serde(deserialize_with = "lenient::text")]
    session_id: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    agent_mode: Option<String>,
    #[serde(deserialize_with = "lenient::list")]
    mcp_servers: Vec<McpServerStatus>,
}

/// A message to or from the model.
#[derive(Default, Deserialize)]
#[serde(default)]
struct AmpMessageLine {
    #[serde(deserialize_with = "lenient::field")]
    message: ApiMessage,
    /// The tool call of the subagent that the message belongs to.
    #[serde(deserialize_with = "lenient::text")]
    parent_tool_use_id: Option<String>,
}

impl Adapter for Amp {
    fn start(&mut self, out: &mut Out) {
        out.facts.push(Fact::Offers(self.offers.clone()));
        // Amp prints nothing before its first input.
        out.facts.push(Fact::Ready);
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
                self.is_running = true;
                self.send_prompt(&prompt, out);
            }
            Order::Steer(prompt) => self.send_prompt(&prompt, out),
            Order::Interrupt => out.says.push(Saying::Interrupt),
            // Amp makes no requests.
            Order::Answer { .. } => {}
        }
    }
}

impl Amp {
    fn send_prompt(&mut self, prompt: &Prompt, out: &mut Out) {
        if self.inputs.len() >= INPUTS_MAX {
            self.inputs.pop_front();
        }
        self.inputs.push_back(prompt.id);
        let message = json!({ "role": "user", "content": prompt_blocks(prompt) });
        out.line(&json!({ "type": "user", "message": message }));
    }

    fn handle_line(&mut self, line: &[u8], out: &mut Out) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let handled = match serde_json::from_slice::<Value>(line) {
            Ok(line) => self.handle_value(&line, out),
            Err(_) if self.is_leaving => Ok(()),
            Err(_) if line.starts_with(LOGIN_PROMPT) => {
                let error = AgentError::TokenError { message: "Amp has no key".into() };
                self.end_turn(TurnEndReason::Failed, Some(error), out);
                self.leave(out);
                Ok(())
            }
            Err(error) => Err(format!("not JSON: {error}")),
        };
        if let Err(error) = handled {
            out.unparsed(self.ids.mint(), line, error);
        }
    }

    fn handle_value(&mut self, line: &Value, out: &mut Out) -> Result<(), String> {
        let AmpLineKind { kind, subtype } = lenient::object(line);
        match kind.as_str() {
            "system" if subtype == "init" => self.handle_init(lenient::object(line), out),
            "user" => self.handle_user_message(&lenient::object(line), out),
            "assistant" => self.handle_assistant_message(&lenient::object(line), out),
            "result" => {
                let (reason, error) = lenient::object::<RunResult>(line).end();
                self.end_turn(reason, error, out);
                self.leave(out);
            }
            _ => return Err("a line of an unknown type".into()),
        }
        Ok(())
    }

    fn handle_init(&mut self, line: AmpInitLine, out: &mut Out) {
        warn_of_failed(&mut self.awaited_servers, &line.mcp_servers, out);
        if !std::mem::replace(&mut self.has_started, true) {
            let started =
                AgentStarted { model: None, mode: line.agent_mode, version: None, resumed: self.is_resumed };
            out.facts.push(Fact::Started { agent_session_id: line.session_id, started });
        }
    }

    /// Handles a message to the model: results of tools, and repeated inputs.
    fn handle_user_message(&mut self, line: &AmpMessageLine, out: &mut Out) {
        let (mut others, parent) = (Vec::new(), line.parent_tool_use_id.as_deref());
        for block in &line.message.content.0 {
            let MessageBlock::ToolResult(result) = MessageBlock::from_value(block) else {
                others.extend(part(others.len().to_string(), block));
                continue;
            };
            let call = result.tool_use_id.as_deref().and_then(|id| self.calls.get(id));
            let outcome = tool_output::read_outcome(result, call);
            let fallback = self.ids.mint();
            let (event, _) = self.calls.finish(&outcome, &fallback);
            out.event(event);
        }
        if others.is_empty() {
            return;
        }
        if parent.is_none()
            && let Some(input) = self.inputs.pop_front()
        {
            self.note_turn(out);
            return out.facts.push(Fact::Consumed(input));
        }
        let role = if parent.is_some() { MessageRole::User } else { MessageRole::System };
        out.event(message(&self.ids.mint(), role, parent, others));
    }

    fn handle_assistant_message(&mut self, line: &AmpMessageLine, out: &mut Out) {
        let (whole, parent) = (&line.message, line.parent_tool_use_id.as_deref());
        if parent.is_none() {
            self.note_turn(out);
        }
        let id = self.ids.mint();
        let (mut parts, mut has_calls) = (Vec::new(), false);
        for (n, block) in whole.content.0.iter().enumerate() {
            parts.extend(match MessageBlock::from_value(block) {
                MessageBlock::ToolUse(call) => {
                    has_calls = true;
                    self.calls.begin(&id, parent, call, true)
                }
                _ => part(n.to_string(), block),
            });
        }
        out.event(message(&id, MessageRole::Assistant, parent, parts));
        if parent.is_some() {
            return;
        }
        if let Some(usage) = whole.usage {
            self.add_usage(usage);
        }
        match whole.stop_reason.as_deref() {
            Some("end_turn" | "stop_sequence") => self.end_turn(TurnEndReason::Completed, None, out),
            // Amp gives no reason for a message that ends early. If no steering input follows, the model reached its limit.
            None if !has_calls && self.inputs.is_empty() => {
                self.end_turn(TurnEndReason::MaxTokens, None, out);
            }
            _ => {}
        }
    }

    /// Notes that a turn runs, which Amp may have begun without a prompt.
    fn note_turn(&mut self, out: &mut Out) {
        if !std::mem::replace(&mut self.is_running, true) {
            out.facts.push(Fact::TurnStarted);
        }
    }

    fn add_usage(&mut self, usage: ApiUsage) {
        let (new, sum) = (TokenUsage::from(usage), self.usage.get_or_insert_default());
        sum.input_tokens = sum.input_tokens.saturating_add(new.input_tokens);
        sum.output_tokens = sum.output_tokens.saturating_add(new.output_tokens);
        sum.cached_tokens = sum.cached_tokens.saturating_add(new.cached_tokens);
        sum.context_tokens = Some(usage.context_tokens());
    }

    fn end_turn(&mut self, reason: TurnEndReason, error: Option<AgentError>, out: &mut Out) {
        for event in self.calls.cancel(|_| true) {
            out.event(event);
        }
        let usage = self.usage.take();
        if std::mem::take(&mut self.is_running) {
            out.facts.push(Fact::TurnEnded { reason, usage, error });
        }
    }

    fn leave(&mut self, out: &mut Out) {
        if !std::mem::replace(&mut self.is_leaving, true) {
            out.facts.push(Fact::Leaving);
        }
    }
}
