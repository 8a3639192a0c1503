//! Calls of tools, and their results.

use std::collections::HashMap;

use protocol::message::{FileDiff, MessagePart, PartContent, ToolCall, ToolKind, ToolResult, ToolStatus};
use serde::Deserialize;
use serde_json::Value;

use super::{
    messages::file_part,
    wire_message::{OpencodeToolPart, OpencodeToolStatus, ToolFileChange, ToolMetadata, ToolState},
};
use crate::lenient;

/// Prefixes of the errors of calls that were not allowed, not answered or interrupted.
const CANCELLED: [&str; 4] =
    ["The user rejected", "The user dismissed", "Tool execution aborted", "The user has specified a rule"];

/// A text in the output of an interrupted command.
const COMMAND_ABORTED: &str = "User aborted the command";

/// The calls of a turn without a result.
#[derive(Debug, Default)]
pub(super) struct OpencodeToolCalls {
    open: HashMap<String, OpenOpencodeCall>,
    /// The prefixes of the names of the MCP servers' tools.
    mcp_prefixes: Vec<String>,
}

#[derive(Debug)]
struct OpenOpencodeCall {
    message: String,
    call: ToolCall,
    /// The output so far. None before the part with the result was sent.
    output: Option<String>,
    /// The change that the call proposes in its request for permission.
    proposed_diff: Option<String>,
}

/// Changes of a call to send to clients.
#[derive(Debug, Default)]
pub(super) struct ToolCallUpdate {
    pub(super) parts: Vec<MessagePart>,
    /// Text to append to the output.
    pub(super) new_output: Option<String>,
}

/// The input of tools that edit files.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct EditInput {
    file_path: Option<String>,
    content: Option<String>,
}

impl OpencodeToolCalls {
    pub(super) fn new<'a>(mcp_servers: impl Iterator<Item = &'a String>) -> Self {
        // The server replaces other characters by an underscore.
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let mcp_prefixes = mcp_servers.map(|name| name.chars().map(plain).chain(['_']).collect()).collect();
        Self { open: HashMap::new(), mcp_prefixes }
    }

    /// An open call, as far as it is known.
    pub(super) fn call(&self, id: &str) -> Option<&ToolCall> {
        self.open.get(id).map(|open| &open.call)
    }

    /// Records the change that a call proposes.
    pub(super) fn set_proposed_diff(&mut self, call: &str, diff: &str) {
        if let Some(open) = self.open.get_mut(call) {
            open.proposed_diff = Some(diff.to_owned());
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
            _ if self.mcp_prefixes.iter().any(|prefix| name.starts_with(prefix.as_str())) => ToolKind::Mcp,
            _ => ToolKind::Other,
        }
    }

    /// Handles the new state of a call. None if the state is not understood.
    pub(super) fn update(
        &mut self,
        message: &str,
        call: &str,
        part: OpencodeToolPart,
    ) -> Option<ToolCallUpdate> {
        let (name, mut state) = (part.tool?, part.state);
        let status = state.status?;
        let kind = self.kind(&name);
        let known = self.open.remove(call);
        let before = known.as_ref().map(|open| open.call.clone());
        let mut open = known.unwrap_or_else(|| OpenOpencodeCall::new(message, call, name, kind));
        let has_input = state.input.as_object().is_some_and(|input| !input.is_empty());
        if has_input || status != OpencodeToolStatus::Pending {
            open.call.input = std::mem::take(&mut state.input);
        }
        if let Some(title) = state.title.take().filter(|title| !title.is_empty()) {
            open.call.title = Some(title);
        }
        let mut update = ToolCallUpdate::default();
        match status {
            OpencodeToolStatus::Pending => open.call.status = ToolStatus::Pending,
            OpencodeToolStatus::Running => {
                open.call.status = ToolStatus::Running;
                if let Some(output) = state.metadata.output {
                    update = open.set_output(output);
                }
            }
            OpencodeToolStatus::Completed => {
                let attachments = std::mem::take(&mut state.attachments);
                let result = open.complete(state);
                update.parts = vec![open.part(), result_part(call, result)];
                update.parts.extend(attachments.into_iter().filter_map(file_part));
                return Some(update);
            }
            OpencodeToolStatus::Error => {
                let result = open.fail(state);
                update.parts = vec![open.part(), result_part(call, result)];
                return Some(update);
            }
        }
        if before.as_ref() != Some(&open.call) {
            update.parts.insert(0, open.part());
        }
        self.open.insert(call.to_owned(), open);
        Some(update)
    }

    /// Cancels the open calls. Returns the part of each with its message.
    pub(super) fn cancel_open(&mut self) -> Vec<(String, MessagePart)> {
        let mut open: Vec<_> = self.open.drain().collect();
        open.sort_by(|(one, _), (other, _)| one.cmp(other));
        let cancel = |(_, mut open): (String, OpenOpencodeCall)| {
            open.call.status = ToolStatus::Cancelled;
            let part = open.part();
            (open.message, part)
        };
        open.into_iter().map(cancel).collect()
    }
}

impl OpenOpencodeCall {
    fn new(message: &str, call: &str, name: String, kind: ToolKind) -> Self {
        let call = ToolCall {
            call_id: call.to_owned(),
            name,
            kind,
            title: None,
            input: Value::Null,
            status: ToolStatus::Pending,
        };
        Self { message: message.to_owned(), call, output: None, proposed_diff: None }
    }

    fn part(&self) -> MessagePart {
        MessagePart { id: self.call.call_id.clone(), content: PartContent::ToolCall(self.call.clone()) }
    }

    /// Replaces the output so far. The update appends to it where possible: the server drops the beginning of long output.
    fn set_output(&mut self, output: String) -> ToolCallUpdate {
        let mut update = ToolCallUpdate::default();
        let id = self.call.call_id.clone();
        match self.output.as_deref().map(|before| output.strip_prefix(before)) {
            Some(Some("")) => return update,
            Some(Some(more)) => update.new_output = Some(more.to_owned()),
            // The part with the result comes before the deltas that append to it.
            None | Some(None) => {
                let result = ToolResult { output: output.clone(), ..ToolResult::default() };
                update.parts = vec![result_part(&id, result)];
            }
        }
        self.output = Some(output);
        update
    }

    fn complete(&mut self, state: ToolState) -> ToolResult {
        let exit_code = state.metadata.exit;
        let output = state.output.unwrap_or_default();
        let is_aborted =
            self.call.kind == ToolKind::Execute && exit_code.is_none() && output.contains(COMMAND_ABORTED);
        self.call.status = if is_aborted { ToolStatus::Cancelled } else { ToolStatus::Completed };
        ToolResult {
            call_id: self.call.call_id.clone(),
            output,
            diffs: self.diffs(state.metadata),
            exit_code,
            is_error: is_aborted || exit_code.is_some_and(|code| code != 0),
        }
    }

    fn fail(&mut self, state: ToolState) -> ToolResult {
        let error = state.error.unwrap_or_default();
        let is_cancelled = CANCELLED.iter().any(|prefix| error.starts_with(prefix))
            || state.metadata.interrupted == Some(true);
        self.call.status = if is_cancelled { ToolStatus::Cancelled } else { ToolStatus::Failed };
        let call_id = self.call.call_id.clone();
        ToolResult { call_id, output: error, is_error: true, ..ToolResult::default() }
    }

    /// The changes of files. A tool reports each file, or one change, or only its input contains the change.
    fn diffs(&mut self, metadata: ToolMetadata) -> Vec<FileDiff> {
        if let Some(files) = metadata.files {
            return files.iter().map(lenient::object).filter_map(ToolFileChange::into_diff).collect();
        }
        if let Some(diff) = metadata.filediff.into_diff() {
            return vec![diff];
        }
        if self.call.kind != ToolKind::Edit {
            return Vec::new();
        }
        let EditInput { file_path, content } = lenient::object(&self.call.input);
        let unified = metadata.diff.or_else(|| self.proposed_diff.take());
        let is_known = unified.is_some() || content.is_some();
        let path = metadata.filepath.or(file_path).filter(|_| is_known);
        let diff = path.map(|path| FileDiff { path, unified, old_text: None, new_text: content });
        diff.into_iter().collect()
    }
}

/// The id of the part with the result of a call.
pub(super) fn result_id(call: &str) -> String {
    format!("{call}:result")
}

fn result_part(call: &str, mut result: ToolResult) -> MessagePart {
    result.call_id = call.to_owned();
    MessagePart { id: result_id(call), content: PartContent::ToolResult(result) }
}
