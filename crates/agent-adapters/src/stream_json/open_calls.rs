//! Tool calls without a result.

use std::collections::BTreeMap;

use protocol::{
    Event,
    message::{MessagePart, MessageRole, PartContent, ToolCall, ToolKind, ToolResult, ToolStatus},
};
use serde_json::Value;

use super::{
    file_diff::file_diff,
    message,
    message_block::ToolUseBlock,
    tool_kinds::{call_title, tool_kind},
    tool_outcome::{StructuredResult, ToolOutcome},
};

/// How many calls may be open at once. No agent comes near; the limit keeps a broken one from filling the memory.
const OPEN_MAX: usize = 1024;

/// The tool calls that have no result yet, by their ids.
#[derive(Debug, Default)]
pub(crate) struct OpenCalls(BTreeMap<String, OpenCall>);

/// A tool call, and the message that it is part of.
#[derive(Debug)]
pub(crate) struct OpenCall {
    message: String,
    /// The tool call of the subagent that makes this call.
    pub(crate) parent: Option<String>,
    pub(crate) call: ToolCall,
}

impl OpenCalls {
    /// Adds a call that begins in `message`, or completes it with its arguments. Returns the part, unless the block has no id.
    pub(crate) fn begin(
        &mut self,
        message: &str,
        parent: Option<&str>,
        block: ToolUseBlock,
        is_complete: bool,
    ) -> Option<MessagePart> {
        let id = block.id?;
        let name = block.name.unwrap_or_else(|| "unknown".into());
        let input = if is_complete { block.input } else { Value::Null };
        let call = ToolCall {
            call_id: id.clone(),
            kind: tool_kind(&name),
            name,
            title: call_title(&input),
            input,
            status: if is_complete { ToolStatus::Running } else { ToolStatus::Pending },
        };
        let part = MessagePart { id: id.clone(), content: PartContent::ToolCall(call.clone()) };
        if self.0.len() >= OPEN_MAX {
            self.0.pop_first();
        }
        let (message, parent) = (message.into(), parent.map(Into::into));
        self.0.insert(id, OpenCall { message, parent, call });
        Some(part)
    }

    /// The call `id`, while it is open.
    pub(crate) fn get(&self, id: &str) -> Option<&ToolCall> {
        self.0.get(id).map(|open| &open.call)
    }

    /// Sets the status of a call, and returns the event if it changes.
    pub(crate) fn set_status(&mut self, id: &str, status: ToolStatus) -> Option<Event> {
        let open = self.0.get_mut(id).filter(|open| open.call.status != status)?;
        open.call.status = status;
        Some(open.event(Vec::new()))
    }

    /// Ends a call, and returns the event with its result. The result of a call of an earlier process, which is not open, goes
    /// into the message `fallback`.
    pub(crate) fn finish(&mut self, outcome: &ToolOutcome, fallback: &str) -> (Event, Option<OpenCall>) {
        let ToolOutcome { block, structured, was_prevented } = outcome;
        let id = block.tool_use_id.as_deref().unwrap_or_default();
        let (output, images) = block.output(id);
        let is_error = block.is_error == Some(true);
        let mut result = ToolResult { call_id: id.into(), output, is_error, ..ToolResult::default() };
        let Some(mut open) = self.0.remove(id) else {
            return (message(fallback, MessageRole::System, None, result_parts(result, images)), None);
        };
        if open.call.kind == ToolKind::Execute {
            result.exit_code = exit_code(&result.output, structured);
        }
        if !is_error {
            result.diffs = file_diff(&open.call.name, &open.call.input, structured).into_iter().collect();
        }
        open.call.status = match (was_prevented, is_error) {
            (true, _) => ToolStatus::Cancelled,
            (_, true) => ToolStatus::Failed,
            _ => ToolStatus::Completed,
        };
        (open.event(result_parts(result, images)), Some(open))
    }

    /// Cancels the calls that will get no result, and returns the events.
    pub(crate) fn cancel(&mut self, is_lost: impl Fn(&OpenCall) -> bool) -> Vec<Event> {
        let lost = self.0.extract_if(.., |_, open| is_lost(open));
        let cancelled = lost.map(|(_, mut open)| {
            open.call.status = ToolStatus::Cancelled;
            open.event(Vec::new())
        });
        cancelled.collect()
    }
}

impl OpenCall {
    fn event(&self, results: Vec<MessagePart>) -> Event {
        let mut parts = vec![MessagePart {
            id: self.call.call_id.clone(),
            content: PartContent::ToolCall(self.call.clone()),
        }];
        parts.extend(results);
        message(&self.message, MessageRole::Assistant, self.parent.as_deref(), parts)
    }
}

fn result_parts(result: ToolResult, images: Vec<MessagePart>) -> Vec<MessagePart> {
    let mut parts = vec![MessagePart {
        id: format!("{}:result", result.call_id),
        content: PartContent::ToolResult(result),
    }];
    parts.extend(images);
    parts
}

/// The exit code of a command. Claude Code reports it only at the beginning of a failed command's output.
fn exit_code(output: &str, structured: &StructuredResult) -> Option<i32> {
    if let Some(code) = structured.exit_code {
        return code.try_into().ok();
    }
    output.strip_prefix("Exit code ")?.lines().next()?.trim().parse().ok()
}
