//! Tool calls, put together of their updates.

use protocol::message::{FileDiff, MessagePart, PartContent, ToolCall, ToolKind, ToolResult, ToolStatus};
use serde_json::Value;

/// A tool call with its result.
pub(super) struct Tool {
    call: ToolCall,
    result: ToolResult,
}

impl Tool {
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

    /// Takes an update; the parts that have changed.
    pub(super) fn update(&mut self, update: &Value) -> Vec<MessagePart> {
        let (call, result) = (self.call.clone(), self.result.clone());
        if let Some(title) = update["title"].as_str() {
            self.call.title = Some(title.into());
        }
        let name = update["name"].as_str().or(update["_meta"]["claudeCode"]["toolName"].as_str());
        if let Some(name) = name.or(self.call.title.as_deref().filter(|_| self.call.name.is_empty())) {
            self.call.name = name.into();
        }
        if let Some(kind) = update["kind"].as_str() {
            self.call.kind = tool_kind(kind);
        }
        if update["rawInput"].as_object().is_some_and(|input| !input.is_empty()) {
            self.call.input = update["rawInput"].clone();
        }
        if let Some(status) = update["status"].as_str() {
            self.call.status = tool_status(status);
        }
        self.contents(update);
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

    /// The turn is over: nothing more comes of it.
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

    /// What it gave so far; each update tells all of it.
    fn contents(&mut self, update: &Value) {
        if let Some(contents) = update["content"].as_array().filter(|contents| !contents.is_empty()) {
            let texts = contents.iter().filter_map(|content| content["content"]["text"].as_str());
            let output: Vec<_> = texts.collect();
            if !output.is_empty() {
                self.result.output = output.join("\n");
            }
            let diffs = contents.iter().filter(|content| content["type"] == "diff");
            let diffs: Vec<_> = diffs.map(diff).collect();
            if !diffs.is_empty() {
                self.result.diffs = diffs;
            }
        }
        let raw = &update["rawOutput"];
        if let Some(output) = raw.as_str().or(raw["output"].as_str()).or(raw["formatted_output"].as_str())
            && self.result.output.is_empty()
        {
            self.result.output = output.into();
        }
        let meta = &update["_meta"];
        if let Some(data) = meta["terminal_output"]["data"].as_str() {
            self.result.output.push_str(data);
        }
        let code = meta["terminal_exit"]["exit_code"].as_i64().or(raw["exit_code"].as_i64());
        self.result.exit_code = code.and_then(|code| i32::try_from(code).ok()).or(self.result.exit_code);
    }
}

fn diff(content: &Value) -> FileDiff {
    let string = |name: &str| content[name].as_str().map(str::to_owned);
    FileDiff {
        path: string("path").unwrap_or_default(),
        unified: None,
        old_text: string("oldText"),
        new_text: string("newText"),
    }
}

/// What kind of tool it is, as the protocol calls it.
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
