//! Sessions over Amp's stream of JSON.
//!
//! One process lives as long as the session is used. It says each message whole; a turn ends with one that calls no
//! tool. It asks nothing, and can be interrupted only by a signal, after which it leaves.

mod launch;
mod outcome;
mod output;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, VecDeque};

use protocol::{
    InputId,
    agents::AgentMode,
    event::{AgentStarted, TokenUsage, TurnEndReason},
    message::MessageRole,
    sessions::AgentError,
};
use serde_json::{Value, json};

use super::{
    Adapted, Adapter, Fact, Heard, Offers, Options, Order, Out, Prompt, Saying, Transport,
    offers::{BUILD, mode},
    stream_json::{
        self,
        calls::{Calls, Finished},
        content, context, list, mcp, message, parent, text, usage,
    },
};

/// How many inputs are kept in mind. The worker holds back all but one and those that steer.
const INPUTS_MAX: usize = 256;

pub(super) fn adapt(options: &Options) -> Result<Adapted, AgentError> {
    let (args, env, files) = launch::launch(options)?;
    let offers = Offers { modes: modes(&options.modes), models: None };
    let adapter = Box::new(Amp {
        offers,
        servers: mcp::servers(&options.mcp).into_iter().map(|(name, _)| name).collect(),
        run: options.run.clone(),
        named: 0,
        resumed: options.resume.is_some(),
        started: false,
        turn: false,
        leaving: false,
        inputs: VecDeque::new(),
        calls: Calls::default(),
        usage: None,
    });
    Ok(Adapted { adapter, transport: Transport::Lines, args, env, files })
}

/// The modes that Amp takes: `row` lists those of the installed version, which change from version to version.
pub(super) fn modes(row: &[AgentMode]) -> Vec<AgentMode> {
    let default = |id, name| mode(id, name, "Amp's own default mode");
    let mut modes = vec![default(BUILD, "Build"), default(launch::DEFAULT, "Default")];
    modes.extend_from_slice(row);
    modes
}

/// One process of Amp.
struct Amp {
    offers: Offers,
    /// The MCP servers of which it has not said whether they started.
    servers: BTreeSet<String>,
    run: String,
    /// How many messages were named by us: it names none.
    named: u64,
    resumed: bool,
    started: bool,
    turn: bool,
    /// Whether it is about to end; what it says from then on is for a person at a terminal.
    leaving: bool,
    /// What it was told and has not repeated, in order.
    inputs: VecDeque<InputId>,
    calls: Calls,
    /// What the turn took so far.
    usage: Option<TokenUsage>,
}

impl Adapter for Amp {
    fn start(&mut self, out: &mut Out) {
        out.facts.push(Fact::Offers(self.offers.clone()));
        // It says nothing before it was told something.
        out.facts.push(Fact::Ready);
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
                self.turn = true;
                self.say(&prompt, out);
            }
            Order::Steer(prompt) => self.say(&prompt, out),
            Order::Interrupt => out.says.push(Saying::Interrupt),
            // It asks nothing.
            Order::Answer { .. } => {}
        }
    }
}

impl Amp {
    fn name(&mut self) -> String {
        self.named += 1;
        format!("{}.{}", self.run, self.named)
    }

    fn say(&mut self, prompt: &Prompt, out: &mut Out) {
        if self.inputs.len() >= INPUTS_MAX {
            self.inputs.pop_front();
        }
        self.inputs.push_back(prompt.id);
        let message = json!({ "role": "user", "content": content::blocks(prompt) });
        out.line(&json!({ "type": "user", "message": message }));
    }

    fn line(&mut self, said: &[u8], out: &mut Out) {
        if said.trim_ascii().is_empty() {
            return;
        }
        let heard = match serde_json::from_slice::<Value>(said) {
            Ok(line) => self.understand(&line, out),
            Err(_) if self.leaving => Ok(()),
            // It would have a person log in, and takes what it is told for a code.
            Err(_) if said.starts_with(b"No API key found") => {
                let error = AgentError::TokenError { message: "Amp has no key".into() };
                self.end(TurnEndReason::Failed, Some(error), out);
                self.leave(out);
                Ok(())
            }
            Err(error) => Err(format!("not JSON: {error}")),
        };
        if let Err(error) = heard {
            let id = self.name();
            out.unparsed(id, said, error);
        }
    }

    fn understand(&mut self, line: &Value, out: &mut Out) -> Result<(), String> {
        match text(line, "type").unwrap_or_default() {
            "system" if text(line, "subtype") == Some("init") => self.init(line, out),
            "user" => self.returned(line, out),
            "assistant" => self.spoken(line, out),
            "result" => {
                let (reason, error) = outcome::ended(line);
                self.end(reason, error, out);
                self.leave(out);
            }
            _ => return Err("a line of an unknown type".into()),
        }
        Ok(())
    }

    fn init(&mut self, line: &Value, out: &mut Out) {
        mcp::warn_of_failed(&mut self.servers, line, out);
        if !std::mem::replace(&mut self.started, true) {
            let owned = |key: &str| text(line, key).map(str::to_owned);
            let started =
                AgentStarted { model: None, mode: owned("agent_mode"), version: None, resumed: self.resumed };
            out.facts.push(Fact::Started { agent_session_id: owned("session_id"), started });
        }
    }

    /// A message to the model: results of tools, and what it was told, repeated.
    fn returned(&mut self, line: &Value, out: &mut Out) {
        let (mut others, parent) = (Vec::new(), parent(line));
        for block in list(line.get("message").unwrap_or(&Value::Null), "content") {
            if text(block, "type") != Some("tool_result") {
                others.extend(content::part(others.len().to_string(), block));
                continue;
            }
            let call = text(block, "tool_use_id").and_then(|id| self.calls.get(id));
            let (block, structured) = output::read(block, call);
            let prevented = output::prevented(&block);
            let fallback = self.name();
            let finished = Finished { block: &block, structured: structured.as_ref(), prevented };
            let (event, _) = self.calls.finished(&finished, &fallback);
            out.event(event);
        }
        if others.is_empty() {
            return;
        }
        if parent.is_none()
            && let Some(input) = self.inputs.pop_front()
        {
            if !std::mem::replace(&mut self.turn, true) {
                out.facts.push(Fact::TurnStarted);
            }
            return out.facts.push(Fact::Consumed(input));
        }
        let id = self.name();
        let role = if parent.is_some() { MessageRole::User } else { MessageRole::System };
        out.event(message(&id, role, parent, others));
    }

    fn spoken(&mut self, line: &Value, out: &mut Out) {
        let (said, parent) = (line.get("message").unwrap_or(&Value::Null), parent(line));
        if parent.is_none() && !std::mem::replace(&mut self.turn, true) {
            out.facts.push(Fact::TurnStarted);
        }
        let id = self.name();
        let (mut parts, mut calls) = (Vec::new(), false);
        for (n, block) in list(said, "content").iter().enumerate() {
            let is_call = text(block, "type") == Some("tool_use");
            calls |= is_call;
            parts.extend(match is_call {
                true => self.calls.told(&id, parent, block, true),
                false => content::part(n.to_string(), block),
            });
        }
        out.event(message(&id, MessageRole::Assistant, parent, parts));
        if parent.is_some() {
            return;
        }
        if let Some(took) = said.get("usage") {
            self.took(&usage(took));
        }
        match text(said, "stop_reason") {
            Some("end_turn" | "stop_sequence") => self.end(TurnEndReason::Completed, None, out),
            // It does not say why a message was cut. If it is not because it was told more, nothing follows.
            None if !calls && self.inputs.is_empty() => self.end(TurnEndReason::MaxTokens, None, out),
            _ => {}
        }
    }

    fn took(&mut self, new: &TokenUsage) {
        let sum = self.usage.get_or_insert_default();
        sum.input_tokens = sum.input_tokens.saturating_add(new.input_tokens);
        sum.output_tokens = sum.output_tokens.saturating_add(new.output_tokens);
        sum.cached_tokens = sum.cached_tokens.saturating_add(new.cached_tokens);
        sum.context_tokens = Some(context(new));
    }

    fn end(&mut self, reason: TurnEndReason, error: Option<AgentError>, out: &mut Out) {
        for event in self.calls.abandon(|_| true) {
            out.event(event);
        }
        let usage = self.usage.take();
        if std::mem::take(&mut self.turn) {
            out.facts.push(Fact::TurnEnded { reason, usage, error });
        }
    }

    fn leave(&mut self, out: &mut Out) {
        if !std::mem::replace(&mut self.leaving, true) {
            out.facts.push(Fact::Leaving);
        }
    }
}
