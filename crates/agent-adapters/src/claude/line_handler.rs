//! The adapter's reaction to each line of Claude Code.

use protocol::{
    Event,
    event::{CommandsUpdated, TurnEndReason},
    message::{MessageRole, ToolStatus},
    sessions::AgentError,
};
use serde_json::{Value, json};

use super::{
    Claude, ClaudeTurn, Fact, INITIALIZE, Out,
    claude_line::{
        AssistantLine, ClaudeLine, CommandLifecycleLine, ControlRequestLine, ControlResponse,
        StreamEventLine, UserLine,
    },
    initialize_result::{ClaudeCommands, ClaudeInitializeResult, check_wanted_model},
    modes,
    tool_request::ClaudeToolRequest,
    turn_result::TurnResult,
};
use crate::{
    Offers, lenient,
    stream_json::{
        message,
        message_block::{MessageBlock, part},
        open_calls::OpenCall,
        tool_outcome::ToolOutcome,
    },
};

/// The beginning of a message by which Claude Code tells the model that the turn was interrupted.
const INTERRUPTED: &str = "[Request interrupted by user";

/// The tag around the output of a slash command.
const COMMAND_OUTPUT: (&str, &str) = ("<local-command-stdout>", "</local-command-stdout>");

impl Claude {
    pub(super) fn handle_line(&mut self, line: &[u8], out: &mut Out) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let handled = match serde_json::from_slice::<Value>(line) {
            Ok(line) => self.handle_value(&line, out),
            Err(error) => Err(format!("not JSON: {error}")),
        };
        if let Err(error) = handled {
            out.unparsed(self.ids.mint(), line, error);
        }
    }

    fn handle_value(&mut self, line: &Value, out: &mut Out) -> Result<(), String> {
        match ClaudeLine::from_value(line) {
            ClaudeLine::System { subtype } => self.handle_system_line(&subtype, line, out)?,
            ClaudeLine::StreamEvent(line) => self.handle_stream_event(*line, out)?,
            ClaudeLine::Assistant(line) => self.handle_assistant_line(&line, out),
            ClaudeLine::User(line) => self.handle_user_line(&line, out),
            ClaudeLine::Result(result) => self.handle_result(&result, out),
            ClaudeLine::ControlRequest(line) => self.handle_control_request(&line, out)?,
            ClaudeLine::ControlResponse(line) => self.handle_control_response(line.response, out)?,
            ClaudeLine::ControlCancelRequest(line) => {
                if self.requests.remove(&line.request_id).is_some() {
                    out.facts.push(Fact::Withdrawn { key: line.request_id });
                }
            }
            ClaudeLine::CommandLifecycle(line) => self.handle_input_state(&line, out)?,
            ClaudeLine::Ignored => {}
            ClaudeLine::Unknown => return Err("a line of an unknown type".into()),
        }
        Ok(())
    }

    fn handle_input_state(&mut self, line: &CommandLifecycleLine, out: &mut Out) -> Result<(), String> {
        match line.state.as_str() {
            "queued" => self.inputs.mark_reported(),
            "started" | "completed" => {
                if let Some(id) = self.inputs.take(&line.command_uuid) {
                    if self.turn == ClaudeTurn::Idle {
                        self.note_work(out);
                    }
                    out.facts.push(Fact::Consumed(id));
                }
            }
            "cancelled" | "discarded" => {
                if let Some(input) = self.inputs.take(&line.command_uuid) {
                    out.facts.push(Fact::Refused {
                        input,
                        reason: "the turn was interrupted before it started".into(),
                    });
                    if self.turn == ClaudeTurn::Prompted(input) {
                        self.end_turn(TurnEndReason::Interrupted, None, None, out);
                    }
                }
            }
            _ => return Err("a state of an unknown name".into()),
        }
        Ok(())
    }

    fn handle_stream_event(&mut self, line: StreamEventLine, out: &mut Out) -> Result<(), String> {
        let StreamEventLine { event, parent_tool_use_id: parent } = line;
        if parent.is_none() {
            match event.kind.as_str() {
                "message_start" => {
                    self.note_work(out);
                    self.set_status_detail(None, out);
                }
                "message_delta" => self.context_tokens = event.usage.map(|usage| usage.context_tokens()),
                _ => {}
            }
        }
        Ok(self.messages.apply_stream_event(event, parent.as_deref(), &mut self.calls, out)?)
    }

    fn handle_assistant_line(&mut self, line: &AssistantLine, out: &mut Out) {
        if line.parent_tool_use_id.is_none() {
            self.note_work(out);
            if let Some(failure) = line.failure() {
                // The adapter reports it when the turn ends.
                self.failure = Some(failure);
                return;
            }
        }
        let fallback = self.ids.mint();
        let parent = line.parent_tool_use_id.as_deref();
        self.messages.add_blocks(&line.message, parent, &fallback, &mut self.calls, out);
    }

    fn handle_user_line(&mut self, line: &UserLine, out: &mut Out) {
        let blocks = || line.message.content.0.iter().map(|block| (block, MessageBlock::from_value(block)));
        let results = blocks().filter(|(_, block)| matches!(block, MessageBlock::ToolResult(_))).count();
        // The line has one result for programs, and does not say to which of several results it belongs.
        let structured = line.tool_use_result.as_ref().filter(|_| results == 1);
        for (raw, block) in blocks() {
            let MessageBlock::ToolResult(result) = block else {
                self.add_remark(line, raw, out);
                continue;
            };
            let outcome = ToolOutcome {
                was_prevented: line.was_prevented(result.tool_use_id.as_deref()),
                block: result,
                structured: structured.map(lenient::object).unwrap_or_default(),
            };
            let fallback = self.ids.mint();
            let (event, finished) = self.calls.finish(&outcome, &fallback);
            out.event(event);
            let is_relevant =
                |open: &OpenCall| open.parent.is_none() && open.call.status == ToolStatus::Completed;
            if let Some(open) = finished.filter(is_relevant) {
                let plan = self.task_plan.apply_call(&open.call.name, &open.call.input, structured);
                out.facts.extend(plan.map(Event::Plan).map(Fact::Event));
            }
        }
    }

    /// Shows a block that Claude Code adds to the model's input, or a subagent's prompt.
    fn add_remark(&mut self, line: &UserLine, block: &Value, out: &mut Out) {
        let parent = line.parent_tool_use_id.as_deref();
        let text = match MessageBlock::from_value(block) {
            MessageBlock::Text { text } => text,
            _ => String::new(),
        };
        if text.starts_with(INTERRUPTED) {
            return;
        }
        let (start, end) = COMMAND_OUTPUT;
        let part = match text.strip_prefix(start) {
            Some(output) => {
                let output = output.trim_end_matches(end);
                part("0".into(), &json!({ "type": "text", "text": output }))
            }
            None => part("0".into(), block),
        };
        let Some(part) = part else { return };
        let id = line.uuid.clone().unwrap_or_else(|| self.ids.mint());
        let role = if parent.is_some() { MessageRole::User } else { MessageRole::System };
        out.event(message(&id, role, parent, vec![part]));
    }

    fn handle_result(&mut self, result: &TurnResult, out: &mut Out) {
        let failure = self.failure.take();
        if !self.is_ready {
            return out.facts.push(Fact::Failed(result.agent_error()));
        }
        let (reason, error) = result.end(failure);
        match self.turn {
            // The agent had begun a turn of its own, and gets to the prompt next.
            ClaudeTurn::Prompted(id) if self.inputs.is_waiting(id) => {}
            ClaudeTurn::Idle => out.facts.extend(error.map(Event::Error).map(Fact::Event)),
            ClaudeTurn::Prompted(_) | ClaudeTurn::Unprompted => {
                self.end_turn(reason, result.token_usage(self.context_tokens), error, out);
            }
        }
    }

    fn handle_control_request(&mut self, line: &ControlRequestLine, out: &mut Out) -> Result<(), String> {
        let key = line.request_id.as_deref().ok_or("a request without an id")?;
        if let Some(request) = ClaudeToolRequest::from_value(&line.request) {
            self.handle_tool_request(key, request, out);
            return Ok(());
        }
        // Without a response the agent would wait forever.
        let response =
            json!({ "subtype": "error", "request_id": key, "error": "this request is not supported" });
        out.line(&json!({ "type": "control_response", "response": response }));
        Err("a request of an unknown type".into())
    }

    fn handle_control_response(&mut self, response: ControlResponse, out: &mut Out) -> Result<(), String> {
        let is_first = response.request_id == INITIALIZE && !self.is_ready;
        match response.subtype.as_str() {
            "success" if is_first => self.finish_start(&response.response, out),
            "success" => {}
            "error" => {
                let message = response.error.unwrap_or_else(|| "a request was refused".into());
                let error = AgentError::Other { message };
                out.facts.push(if is_first { Fact::Failed(error) } else { Fact::Event(Event::Error(error)) });
            }
            _ => return Err("a response of an unknown type".into()),
        }
        Ok(())
    }

    /// Handles the answer to `initialize`.
    fn finish_start(&mut self, result: &Value, out: &mut Out) {
        self.is_ready = true;
        let models = ClaudeInitializeResult::from_value(result).into_models();
        let checked = check_wanted_model(&models, self.model.as_deref());
        out.facts.push(Fact::Offers(Offers { modes: modes(), models: Some(models) }));
        if let Err(error) = checked {
            return out.facts.push(Fact::Failed(error));
        }
        publish_commands(result, out);
        out.facts.push(Fact::Ready);
    }
}

/// Publishes the commands in a line or an answer.
pub(super) fn publish_commands(list: &Value, out: &mut Out) {
    let commands: ClaudeCommands = lenient::object(list);
    out.event(Event::CommandsUpdated(CommandsUpdated::from(commands)));
}
