//! The state of a tool call, put together from its updates.

use protocol::message::{FileDiff, MessagePart, PartContent, ToolCall, ToolKind, ToolResult, ToolStatus};
use serde_json::Value;

use super::tool_call_update::{AcpToolCallUpdate, ToolCallContent};

/// The state of a tool call with its result.
pub(super) struct TrackedToolCall {
    call: ToolCall,
    result: ToolResult,
}

impl TrackedToolCall {
    pub(super) fn new(id: &str) -> Self {
        Self {
            call: ToolCall {
                call_id: id.into(),
                name: String::new(),
                kind: ToolKind::Other,
                title: None,
                input: Value::Null,
                status: ToolStatus::Pending,
            },
            result: ToolResult { call_id: id.into(), ..ToolResult::default() },
        }
    }

    /// Applies an update and returns the parts that it changes.
    pub(super) fn apply(&mut self, update: AcpToolCallUpdate) -> Vec<MessagePart> {
        let (call, result) = (self.call.clone(), self.result.clone());
        self.apply_to_result(&update);
        if update.title.is_some() {
            self.call.title = update.title;
        }
        let name = update.name.or(update.meta.claude_code.tool_name);
        if let Some(name) = name.or_else(|| self.call.title.clone().filter(|_| self.call.name.is_empty())) {
            self.call.name = name;
        }
        if let Some(kind) = &update.kind {
            self.call.kind = tool_kind(kind);
        }
        if update.raw_input.as_object().is_some_and(|input| !input.is_empty()) {
            self.call.input = update.raw_input;
        }
        if let Some(status) = &update.status {
            self.call.status = tool_status(status);
        }
        self.result.is_error = self.call.status == ToolStatus::Failed;
        let mut parts = Vec::new();
        if self.call != call || call.name.is_empty() {
            parts.push(self.call_part());
        }
        if self.result != result {
            let content = PartContent::ToolResult(self.result.clone());
            parts.push(MessagePart { id: format!("{}:result", self.call.call_id), content });
        }
        parts
    }

    /// Cancels a call that has not ended when the turn ends, and returns the changed part.
    pub(super) fn cancel(&mut self) -> Option<MessagePart> {
        if !matches!(self.call.status, ToolStatus::Pending | ToolStatus::Running) {
            return None;
        }
        self.call.status = ToolStatus::Cancelled;
        Some(self.call_part())
    }

    fn call_part(&self) -> MessagePart {
        MessagePart { id: self.call.call_id.clone(), content: PartContent::ToolCall(self.call.clone()) }
    }

    /// Each update repeats the whole output, in one of several places.
    fn apply_to_result(&mut self, update: &AcpToolCallUpdate) {
        let (mut texts, mut diffs) = (Vec::new(), Vec::new());
        for content in &update.content {
            match content {
                ToolCallContent::Content { content } => texts.extend(content.text.as_deref()),
                ToolCallContent::Diff { path, old_text, new_text } => diffs.push(FileDiff {
                    path: path.clone(),
                    unified: None,
                    old_text: old_text.clone(),
                    new_text: new_text.clone(),
                }),
                ToolCallContent::Other => {}
            }
        }
        if !texts.is_empty() {
            self.result.output = texts.join("\n");
        }
        if !diffs.is_empty() {
            self.result.diffs = diffs;
        }
        let raw = &update.raw_output;
        if let Some(output) = &raw.output
            && self.result.output.is_empty()
        {
            self.result.output.clone_from(output);
        }
        if let Some(more) = &update.meta.terminal_output.data {
            self.result.output.push_str(more);
        }
        let code = update.meta.terminal_exit.exit_code.or(raw.exit_code);
        self.result.exit_code = code.and_then(|code| i32::try_from(code).ok()).or(self.result.exit_code);
    }
}

/// The kind of tool that the protocol calls `kind`.
pub(super) fn tool_kind(kind: &str) -> ToolKind {
    match kind {
        "read" => ToolKind::Read,
        "edit" => ToolKind::Edit,
        "delete" => ToolKind::Delete,
        "move" => ToolKind::Move,
        "search" => ToolKind::Search,
        "execute" => ToolKind::Execute,
        "think" => ToolKind::Think,
        "fetch" => ToolKind::Fetch,
        "switch_mode" => ToolKind::SwitchMode,
        _ => ToolKind::Other,
    }
}

fn tool_status(status: &str) -> ToolStatus {
    match status {
        "pending" => ToolStatus::Pending,
        "in_progress" => ToolStatus::Running,
        "completed" => ToolStatus::Completed,
        "failed" => ToolStatus::Failed,
        _ => ToolStatus::Other,
    }
}
