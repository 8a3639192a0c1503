//! Tool calls and what became of them.

use std::collections::BTreeMap;

use protocol::{
    Event,
    message::{MessagePart, MessageRole, PartContent, ToolCall, ToolKind, ToolResult, ToolStatus},
};
use serde_json::Value;

use super::{content, diff, message, text, tools};

/// How many calls may be open at once. No agent comes near; it keeps a broken one from filling the memory.
const OPEN_MAX: usize = 1024;

/// The tool calls that have no result yet.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    open: BTreeMap<String, Open>,
}

/// A tool call, and where it was told.
#[derive(Debug)]
pub(crate) struct Open {
    message: String,
    /// The call of whose inner life it is part.
    pub(crate) parent: Option<String>,
    /// The call.
    pub(crate) call: ToolCall,
}

impl Calls {
    /// A block that begins or completes a call in `message`; the part that it is, if it has an id.
    pub(crate) fn told(
        &mut self,
        message: &str,
        parent: Option<&str>,
        block: &Value,
        whole: bool,
    ) -> Option<MessagePart> {
        let (id, name) = (text(block, "id")?, text(block, "name").unwrap_or("unknown"));
        let input = if whole { block.get("input").cloned().unwrap_or(Value::Null) } else { Value::Null };
        let call = ToolCall {
            call_id: id.into(),
            name: name.into(),
            kind: tools::kind(name),
            title: tools::title(&input),
            input,
            status: if whole { ToolStatus::Running } else { ToolStatus::Pending },
        };
        let part = MessagePart { id: id.into(), content: PartContent::ToolCall(call.clone()) };
        if self.open.len() >= OPEN_MAX {
            self.open.pop_first();
        }
        self.open.insert(id.into(), Open { message: message.into(), parent: parent.map(Into::into), call });
        Some(part)
    }

    /// The call `id`, while it is open.
    pub(crate) fn get(&self, id: &str) -> Option<&ToolCall> {
        self.open.get(id).map(|open| &open.call)
    }

    /// A call has come so far; what is to be told, if that is new.
    pub(crate) fn mark(&mut self, id: &str, status: ToolStatus) -> Option<Event> {
        let open = self.open.get_mut(id).filter(|open| open.call.status != status)?;
        open.call.status = status;
        Some(open.event(Vec::new()))
    }

    /// The result of a call: what is to be told, and the call. A call that is not known was one of an earlier process;
    /// its result is told in the message `fallback`.
    pub(crate) fn finished(&mut self, finished: &Finished<'_>, fallback: &str) -> (Event, Option<Open>) {
        let id = text(finished.block, "tool_use_id").unwrap_or_default();
        let (output, others) = content::output(id, finished.block.get("content"));
        let is_error = finished.block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
        let mut result = ToolResult { call_id: id.into(), output, is_error, ..ToolResult::default() };
        let Some(mut open) = self.open.remove(id) else {
            return (message(fallback, MessageRole::System, None, result_parts(result, others)), None);
        };
        if open.call.kind == ToolKind::Execute {
            result.exit_code = exit_code(&result.output, finished.structured);
        }
        if !is_error {
            result.diffs = diff::diffs(&open.call.name, &open.call.input, finished.structured);
        }
        open.call.status = match (finished.prevented, is_error) {
            (true, _) => ToolStatus::Cancelled,
            (_, true) => ToolStatus::Failed,
            _ => ToolStatus::Completed,
        };
        (open.event(result_parts(result, others)), Some(open))
    }

    /// Calls of which no result will come are given up; what is to be told.
    pub(crate) fn abandon(&mut self, lost: impl Fn(&Open) -> bool) -> Vec<Event> {
        let ids: Vec<_> = self.open.iter().filter(|(_, open)| lost(open)).map(|(id, _)| id.clone()).collect();
        let mut events = Vec::new();
        for mut open in ids.iter().filter_map(|id| self.open.remove(id)) {
            open.call.status = ToolStatus::Cancelled;
            events.push(open.event(Vec::new()));
        }
        events
    }
}

/// The result of a call, as it was said.
pub(crate) struct Finished<'a> {
    /// The block of type `tool_result`.
    pub(crate) block: &'a Value,
    /// What the agent tells programs about it.
    pub(crate) structured: Option<&'a Value>,
    /// Whether it was not allowed, or was interrupted.
    pub(crate) prevented: bool,
}

impl Open {
    fn event(&self, results: Vec<MessagePart>) -> Event {
        let mut parts = vec![MessagePart {
            id: self.call.call_id.clone(),
            content: PartContent::ToolCall(self.call.clone()),
        }];
        parts.extend(results);
        message(&self.message, MessageRole::Assistant, self.parent.as_deref(), parts)
    }
}

fn result_parts(result: ToolResult, others: Vec<MessagePart>) -> Vec<MessagePart> {
    let mut parts = vec![MessagePart {
        id: format!("{}:result", result.call_id),
        content: PartContent::ToolResult(result),
    }];
    parts.extend(others);
    parts
}

/// How a command ended: as the agent tells programs, or as Claude Code begins what a failed one gave.
fn exit_code(output: &str, structured: Option<&Value>) -> Option<i32> {
    if let Some(code) = structured.and_then(|told| told.get("exitCode")) {
        return code.as_i64()?.try_into().ok();
    }
    output.strip_prefix("Exit code ")?.lines().next()?.trim().parse().ok()
}
