//! Tools that the agent uses, and what they give.

use std::collections::HashMap;

use protocol::message::{FileDiff, MessagePart, PartContent, ToolCall, ToolKind, ToolResult, ToolStatus};
use serde_json::Value;

use super::messages::file;

/// How the errors begin of calls that were not allowed, not answered or interrupted.
const CANCELLED: [&str; 4] =
    ["The user rejected", "The user dismissed", "Tool execution aborted", "The user has specified a rule"];

/// What a command gives that somebody interrupted.
const COMMAND_ABORTED: &str = "User aborted the command";

/// The calls of a turn that have not given their result.
#[derive(Debug, Default)]
pub(super) struct Tools {
    open: HashMap<String, Open>,
    /// How the names of the tools of MCP servers begin.
    mcp: Vec<String>,
}

#[derive(Debug)]
struct Open {
    message: String,
    call: ToolCall,
    /// What it gave so far, once there is a result.
    output: Option<String>,
    /// What it would change, as it said when it asked.
    diff: Option<String>,
}

/// What there is to tell of a call.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) parts: Vec<MessagePart>,
    /// More of its output.
    pub(super) more: Option<String>,
}

impl Tools {
    pub(super) fn new<'a>(mcp: impl Iterator<Item = &'a String>) -> Self {
        // The server writes what is neither a letter, a digit nor one of these two as an underscore.
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let mcp = mcp.map(|name| name.chars().map(plain).chain(['_']).collect()).collect();
        Self { open: HashMap::new(), mcp }
    }

    /// The tool of a call and what it is called with, as far as that is known.
    pub(super) fn find(&self, call: &str) -> Option<&ToolCall> {
        self.open.get(call).map(|open| &open.call)
    }

    /// Keeps what a call would change until it has a result.
    pub(super) fn announce(&mut self, call: &str, diff: &str) {
        if let Some(open) = self.open.get_mut(call) {
            open.diff = Some(diff.to_owned());
        }
    }

    pub(super) fn kind(&self, name: &str) -> ToolKind {
        match name {
            "bash" => ToolKind::Execute,
            "edit" | "write" | "multiedit" | "patch" | "apply_patch" => ToolKind::Edit,
            "read" => ToolKind::Read,
            "glob" | "grep" | "list" | "lsp" | "codesearch" | "websearch" => ToolKind::Search,
            "webfetch" => ToolKind::Fetch,
            "task" => ToolKind::Agent,
            "question" => ToolKind::Ask,
            "plan_enter" | "plan_exit" => ToolKind::SwitchMode,
            "todoread" | "todowrite" => ToolKind::Think,
            _ if self.mcp.iter().any(|server| name.starts_with(server.as_str())) => ToolKind::Mcp,
            _ => ToolKind::Other,
        }
    }

    /// Takes the state of a call; none if it was not understood.
    pub(super) fn update(&mut self, message: &str, call: &str, part: &Value) -> Option<Said> {
        let (name, state) = (part["tool"].as_str()?, &part["state"]);
        let status = state["status"].as_str()?;
        let kind = self.kind(name);
        let known = self.open.remove(call);
        let before = known.as_ref().map(|open| open.call.clone());
        let mut open = known.unwrap_or_else(|| Open::new(message, call, name, kind));
        if state["input"].as_object().is_some_and(|input| !input.is_empty()) || status != "pending" {
            open.call.input = state["input"].clone();
        }
        if let Some(title) = state["title"].as_str().filter(|title| !title.is_empty()) {
            open.call.title = Some(title.to_owned());
        }
        let mut said = Said::default();
        match status {
            "pending" => open.call.status = ToolStatus::Pending,
            "running" => {
                open.call.status = ToolStatus::Running;
                if let Some(output) = state["metadata"]["output"].as_str() {
                    said = open.grow(output);
                }
            }
            "completed" => {
                let result = open.completed(state);
                said.parts = vec![open.part(), result_part(call, result)];
                said.parts.extend(attachments(state));
                return Some(said);
            }
            "error" => {
                let result = open.failed(state);
                said.parts = vec![open.part(), result_part(call, result)];
                return Some(said);
            }
            _ => return None,
        }
        if before.as_ref() != Some(&open.call) {
            said.parts.insert(0, open.part());
        }
        self.open.insert(call.to_owned(), open);
        Some(said)
    }

    /// The calls whose result will not come any more, each with its message.
    pub(super) fn abandoned(&mut self) -> Vec<(String, MessagePart)> {
        let mut left: Vec<_> = self.open.drain().collect();
        left.sort_by(|(one, _), (other, _)| one.cmp(other));
        let told = |(_, mut open): (String, Open)| {
            open.call.status = ToolStatus::Cancelled;
            let part = open.part();
            (open.message, part)
        };
        left.into_iter().map(told).collect()
    }
}

impl Open {
    fn new(message: &str, call: &str, name: &str, kind: ToolKind) -> Self {
        let call = ToolCall {
            call_id: call.to_owned(),
            name: name.to_owned(),
            kind,
            title: None,
            input: Value::Null,
            status: ToolStatus::Pending,
        };
        Self { message: message.to_owned(), call, output: None, diff: None }
    }

    fn part(&self) -> MessagePart {
        MessagePart { id: self.call.call_id.clone(), content: PartContent::ToolCall(self.call.clone()) }
    }

    /// Takes all that it gave so far: what is new of it is told. The server forgets the beginning of long output.
    fn grow(&mut self, output: &str) -> Said {
        let mut said = Said::default();
        let id = self.call.call_id.clone();
        match self.output.as_deref().map(|before| output.strip_prefix(before)) {
            Some(Some("")) => return said,
            Some(Some(more)) => said.more = Some(more.to_owned()),
            // The part of the result is made known before there is more of it.
            None if output.is_empty() => said.parts = vec![result_part(&id, ToolResult::default())],
            None | Some(None) => {
                let result = ToolResult { output: output.to_owned(), ..ToolResult::default() };
                said.parts = vec![result_part(&id, result)];
            }
        }
        self.output = Some(output.to_owned());
        said
    }

    fn completed(&mut self, state: &Value) -> ToolResult {
        let metadata = &state["metadata"];
        let output = state["output"].as_str().unwrap_or_default();
        let exit_code = metadata["exit"].as_i64().and_then(|code| i32::try_from(code).ok());
        let aborted =
            self.call.kind == ToolKind::Execute && exit_code.is_none() && output.contains(COMMAND_ABORTED);
        self.call.status = if aborted { ToolStatus::Cancelled } else { ToolStatus::Completed };
        ToolResult {
            call_id: self.call.call_id.clone(),
            output: output.to_owned(),
            diffs: self.diffs(metadata),
            exit_code,
            is_error: aborted || exit_code.is_some_and(|code| code != 0),
        }
    }

    fn failed(&mut self, state: &Value) -> ToolResult {
        let error = state["error"].as_str().unwrap_or_default();
        let cancelled =
            CANCELLED.iter().any(|how| error.starts_with(how)) || state["metadata"]["interrupted"] == true;
        self.call.status = if cancelled { ToolStatus::Cancelled } else { ToolStatus::Failed };
        let call_id = self.call.call_id.clone();
        ToolResult { call_id, output: error.to_owned(), is_error: true, ..ToolResult::default() }
    }

    /// What it changed in files: told file by file, as one change, or in what it was called with.
    fn diffs(&mut self, metadata: &Value) -> Vec<FileDiff> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let one = |change: &Value| {
            let path = text(&change["file"]).or_else(|| text(&change["filePath"]))?;
            let unified = text(&change["patch"]).or_else(|| text(&change["diff"]));
            Some(FileDiff {
                path,
                unified,
                old_text: text(&change["before"]),
                new_text: text(&change["after"]),
            })
        };
        if let Some(files) = metadata["files"].as_array() {
            return files.iter().filter_map(one).collect();
        }
        if let Some(diff) = one(&metadata["filediff"]) {
            return vec![diff];
        }
        if self.call.kind != ToolKind::Edit {
            return Vec::new();
        }
        let input = &self.call.input;
        let path = text(&metadata["filepath"]).or_else(|| text(&input["filePath"]));
        let unified = text(&metadata["diff"]).or_else(|| self.diff.take());
        let new_text = text(&input["content"]);
        let is_told = unified.is_some() || new_text.is_some();
        path.filter(|_| is_told)
            .map(|path| FileDiff { path, unified, old_text: None, new_text })
            .into_iter()
            .collect()
    }
}

fn result_part(call: &str, mut result: ToolResult) -> MessagePart {
    result.call_id = call.to_owned();
    MessagePart { id: format!("{call}:result"), content: PartContent::ToolResult(result) }
}

/// Files and pictures that a tool gave.
fn attachments(state: &Value) -> Vec<MessagePart> {
    state["attachments"].as_array().into_iter().flatten().filter_map(file).collect()
}
