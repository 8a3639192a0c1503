//! What the lines of Claude Code mean.

use protocol::{
    Event,
    event::{AgentCommand, CommandsUpdated, TurnEndReason},
    message::{MessageRole, ToolStatus},
    sessions::AgentError,
};
use serde_json::{Value, json};

use super::{Ask, Claude, Fact, Failure, INITIALIZE, Out, Turn, models, modes, outcome};
use crate::{
    Offers,
    stream_json::{calls::Finished, content, context, list, message, parent, text, usage},
};

/// Lines that say nothing which is not told in another way, or nothing about the session.
const IGNORED: [&str; 8] = [
    "active_goal",
    "auth_status",
    "conversation_reset",
    "keep_alive",
    "prompt_suggestion",
    "rate_limit_event",
    "tool_progress",
    "tool_use_summary",
];

/// How a message begins that says no more than that the turn was interrupted.
const INTERRUPTED: &str = "[Request interrupted by user";

impl Claude {
    pub(super) fn line(&mut self, said: &[u8], out: &mut Out) {
        if said.trim_ascii().is_empty() {
            return;
        }
        let heard = match serde_json::from_slice::<Value>(said) {
            Ok(line) => self.understand(&line, out),
            Err(error) => Err(format!("not JSON: {error}")),
        };
        if let Err(error) = heard {
            let id = self.name();
            out.unparsed(id, said, error);
        }
    }

    fn understand(&mut self, line: &Value, out: &mut Out) -> Result<(), String> {
        match text(line, "type").unwrap_or_default() {
            "system" => return self.system(line, out),
            "stream_event" => return self.streamed(line, out),
            "assistant" => self.spoken(line, out),
            "user" => self.returned(line, out),
            "result" => self.result(line, out),
            "control_request" => return self.requested(line, out),
            "control_response" => return self.responded(line, out),
            "control_cancel_request" => {
                let key = text(line, "request_id").unwrap_or_default();
                if self.asks.remove(key).is_some() {
                    out.facts.push(Fact::Withdrawn { key: key.into() });
                }
            }
            "command_lifecycle" => return self.input(line, out),
            known if IGNORED.contains(&known) => {}
            _ => return Err("a line of an unknown type".into()),
        }
        Ok(())
    }

    /// What became of something that it was told.
    fn input(&mut self, line: &Value, out: &mut Out) -> Result<(), String> {
        let uuid = text(line, "command_uuid").unwrap_or_default();
        match text(line, "state").unwrap_or_default() {
            "queued" => self.inputs.queued(),
            "started" | "completed" => {
                if let Some(id) = self.inputs.take(uuid) {
                    if self.turn == Turn::Idle {
                        self.begin(out);
                    }
                    out.facts.push(Fact::Consumed(id));
                }
            }
            "cancelled" | "discarded" => {
                if let Some(input) = self.inputs.take(uuid) {
                    out.facts.push(Fact::Refused {
                        input,
                        reason: "the turn was interrupted before it started".into(),
                    });
                    if self.turn == Turn::Told(input) {
                        self.end(TurnEndReason::Interrupted, None, None, out);
                    }
                }
            }
            _ => return Err("a state of an unknown name".into()),
        }
        Ok(())
    }

    fn streamed(&mut self, line: &Value, out: &mut Out) -> Result<(), String> {
        let (event, parent) = (line.get("event").unwrap_or(&Value::Null), parent(line));
        if parent.is_none() {
            match text(event, "type") {
                Some("message_start") => {
                    self.begin(out);
                    self.note(None, out);
                }
                Some("message_delta") => self.context = event.get("usage").map(|said| context(&usage(said))),
                _ => {}
            }
        }
        Ok(self.speeches.stream(event, parent, &mut self.calls, out)?)
    }

    fn spoken(&mut self, line: &Value, out: &mut Out) {
        let parent = parent(line);
        if parent.is_none() {
            self.begin(out);
            if let Some(failure) = Failure::read(line) {
                // It is told when the turn ends.
                self.failure = Some(failure);
                return;
            }
        }
        let fallback = self.name();
        let said = line.get("message").unwrap_or(&Value::Null);
        self.speeches.said(said, parent, &fallback, &mut self.calls, out);
    }

    /// A message to the model: results of tools, and what the program itself says.
    fn returned(&mut self, line: &Value, out: &mut Out) {
        let content = line.pointer("/message/content");
        if let Some(said) = content.and_then(Value::as_str) {
            return self.remark(line, &json!({ "type": "text", "text": said }), out);
        }
        let blocks = content.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let is_result = |block: &Value| text(block, "type") == Some("tool_result");
        // What it tells programs is about one result, and does not say which.
        let only = blocks.iter().filter(|block| is_result(block)).count() == 1;
        for block in blocks {
            if !is_result(block) {
                self.remark(line, block, out);
                continue;
            }
            let structured = line.get("tool_use_result").filter(|_| only);
            let finished = Finished { block, structured, prevented: prevented(line, block) };
            let fallback = self.name();
            let (event, call) = self.calls.finished(&finished, &fallback);
            out.event(event);
            let Some(open) =
                call.filter(|open| open.parent.is_none() && open.call.status == ToolStatus::Completed)
            else {
                continue;
            };
            let plan = self.steps.called(&open.call.name, &open.call.input, structured);
            out.facts.extend(plan.map(Event::Plan).map(Fact::Event));
        }
    }

    /// Something that the program tells the model, or an agent that it started.
    fn remark(&mut self, line: &Value, block: &Value, out: &mut Out) {
        let parent = parent(line);
        let said = text(block, "text").unwrap_or_default();
        if said.starts_with(INTERRUPTED) {
            return;
        }
        let part = match said.strip_prefix("<local-command-stdout>") {
            Some(output) => {
                let output = output.trim_end_matches("</local-command-stdout>");
                content::part("0".into(), &json!({ "type": "text", "text": output }))
            }
            None => content::part("0".into(), block),
        };
        let Some(part) = part else { return };
        let id = text(line, "uuid").map_or_else(|| self.name(), Into::into);
        let role = if parent.is_some() { MessageRole::User } else { MessageRole::System };
        out.event(message(&id, role, parent, vec![part]));
    }

    fn result(&mut self, line: &Value, out: &mut Out) {
        let failure = self.failure.take();
        if !self.ready {
            return out.facts.push(Fact::Failed(outcome::said(line)));
        }
        let (reason, error) = outcome::ended(line, failure);
        match self.turn {
            // It was busy with something of its own, and comes to what it was told next.
            Turn::Told(id) if self.inputs.is_waiting(id) => {}
            Turn::Idle => out.facts.extend(error.map(Event::Error).map(Fact::Event)),
            Turn::Told(_) | Turn::Own => self.end(reason, outcome::took(line, self.context), error, out),
        }
    }

    fn requested(&mut self, line: &Value, out: &mut Out) -> Result<(), String> {
        let key = text(line, "request_id").ok_or("a request without an id")?;
        let request = line.get("request").unwrap_or(&Value::Null);
        let ask = (text(request, "subtype") == Some("can_use_tool")).then(|| Ask::read(request)).flatten();
        if let Some(ask) = ask {
            self.asked(key, ask, out);
            return Ok(());
        }
        // It would wait for ever.
        let response =
            json!({ "subtype": "error", "request_id": key, "error": "this request is not supported" });
        out.line(&json!({ "type": "control_response", "response": response }));
        Err("a request of an unknown type".into())
    }

    fn responded(&mut self, line: &Value, out: &mut Out) -> Result<(), String> {
        let response = line.get("response").unwrap_or(&Value::Null);
        let first = text(response, "request_id") == Some(INITIALIZE) && !self.ready;
        match text(response, "subtype") {
            Some("success") if first => {
                self.ready = true;
                let said = response.get("response").unwrap_or(&Value::Null);
                let models = models::read(said);
                out.facts.push(Fact::Offers(Offers { modes: modes(), models: Some(models.clone()) }));
                if let Err(error) = models::check(&models, self.model.as_deref()) {
                    out.facts.push(Fact::Failed(error));
                    return Ok(());
                }
                self.commands(said, out);
                out.facts.push(Fact::Ready);
            }
            Some("success") => {}
            Some("error") => {
                let message = text(response, "error").unwrap_or("a request was refused").into();
                let error = AgentError::Other { message };
                out.facts.push(if first { Fact::Failed(error) } else { Fact::Event(Event::Error(error)) });
            }
            _ => return Err("a response of an unknown type".into()),
        }
        Ok(())
    }

    pub(super) fn commands(&self, said: &Value, out: &mut Out) {
        let command = |said: &Value| {
            Some(AgentCommand {
                name: text(said, "name")?.into(),
                description: text(said, "description").map(Into::into),
                hint: text(said, "argumentHint").map(Into::into),
            })
        };
        let commands = list(said, "commands").iter().filter_map(command).collect();
        out.event(Event::CommandsUpdated(CommandsUpdated { commands }));
    }
}

/// Whether a call was not allowed, or was interrupted.
fn prevented(line: &Value, block: &Value) -> bool {
    let id = block.get("tool_use_id");
    list(line, "tool_result_meta").iter().filter(|meta| meta.get("id") == id).any(|meta| {
        text(meta, "non_execution_kind").is_some()
            || meta.pointer("/permission_decision/decision").and_then(Value::as_str) == Some("reject")
    })
}
