//! Items that are calls of tools.

use protocol::message::{FileDiff, MessagePart, PartContent, ToolCall, ToolKind, ToolResult, ToolStatus};
use serde_json::{Map, Value, json};

use super::{
    command_action::{command_kind, command_text},
    file_changes::{self, FileChanges},
    item_content::{CodexContent, joined_text},
    thread_item::{CodexItemBody, CodexItemStatus, CodexThreadItem, CollabAgentState, McpToolError},
};
use crate::lenient;

/// The type of pictures for which Codex names none.
const PNG: &str = "image/png";

/// The name under which the model knows a tool of an MCP server.
pub(super) fn mcp_name(server: &str, tool: &str) -> String {
    format!("mcp__{server}__{tool}")
}

/// The running call that an item is; none if the item is no call.
pub(super) fn running_call(id: &str, body: &CodexItemBody) -> Option<ToolCall> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (name, kind, title, input) = match body {
        CodexItemBody::CommandExecution(item) => (
            "commandExecution".to_owned(),
            command_kind(&item.command_actions),
            Some(command_text(item.command.as_deref(), &item.command_actions)),
            json!({ "command": item.command, "cwd": item.cwd }),
        ),
        CodexItemBody::FileChange(item) => {
            let changes = FileChanges::parse(&item.changes);
            let input = file_changes::input(&item.changes);
            ("fileChange".to_owned(), changes.kind(), Some(changes.title()), input)
        }
        CodexItemBody::McpToolCall(item) => {
            let name = mcp_name(&text(&item.server), &text(&item.tool));
            (name, ToolKind::Mcp, None, item.arguments.clone())
        }
        CodexItemBody::DynamicToolCall(item) => {
            (text(&item.tool), ToolKind::Other, None, item.arguments.clone())
        }
        CodexItemBody::CollabAgentToolCall(item) => {
            let input = json!({ "prompt": item.prompt, "model": item.model });
            (text(&item.tool), ToolKind::Agent, item.prompt.clone(), input)
        }
        CodexItemBody::SubAgentActivity(item) => {
            let title = format!("{} {}", text(&item.kind), text(&item.agent_path));
            let input = json!({ "kind": item.kind, "agent": item.agent_path });
            ("subAgentActivity".to_owned(), ToolKind::Agent, Some(title), input)
        }
        CodexItemBody::WebSearch(item) => {
            let input = json!({ "query": item.query, "action": item.action });
            ("webSearch".to_owned(), ToolKind::Search, Some(text(&item.query)), input)
        }
        CodexItemBody::ImageView(item) => {
            ("imageView".to_owned(), ToolKind::Read, Some(text(&item.path)), json!({ "path": item.path }))
        }
        CodexItemBody::ImageGeneration(item) => {
            let input = json!({ "prompt": item.revised_prompt });
            ("imageGeneration".to_owned(), ToolKind::Other, item.revised_prompt.clone(), input)
        }
        CodexItemBody::Sleep(item) => {
            ("sleep".to_owned(), ToolKind::Other, None, json!({ "durationMs": item.duration_ms }))
        }
        CodexItemBody::AgentMessage(_)
        | CodexItemBody::Plan(_)
        | CodexItemBody::Reasoning(_)
        | CodexItemBody::UserMessage(_)
        | CodexItemBody::HookPrompt(_)
        | CodexItemBody::EnteredReviewMode
        | CodexItemBody::ExitedReviewMode(_)
        | CodexItemBody::ContextCompaction
        | CodexItemBody::Unknown => return None,
    };
    Some(ToolCall { call_id: id.to_owned(), name, kind, title, input, status: ToolStatus::Running })
}

/// The outcome of a completed call. A call that was not allowed has no result.
pub(super) fn outcome(id: &str, item: &CodexThreadItem) -> (ToolStatus, Option<ToolResult>) {
    let status = match item.status {
        CodexItemStatus::Failed => ToolStatus::Failed,
        CodexItemStatus::Declined | CodexItemStatus::Interrupted => return (ToolStatus::Cancelled, None),
        // Includes items without a status: they are done once they are complete.
        CodexItemStatus::Other => ToolStatus::Completed,
    };
    let (mut exit_code, mut has_failed) = (None, status == ToolStatus::Failed);
    match &item.body {
        CodexItemBody::CommandExecution(item) => exit_code = item.exit_code,
        CodexItemBody::DynamicToolCall(item) => has_failed |= item.success == Some(false),
        _ => {}
    }
    let result = ToolResult {
        call_id: id.to_owned(),
        output: output(&item.body),
        diffs: diffs(&item.body),
        exit_code,
        is_error: has_failed,
    };
    (status, Some(result))
}

fn output(body: &CodexItemBody) -> String {
    match body {
        CodexItemBody::CommandExecution(item) => item.aggregated_output.clone().unwrap_or_default(),
        CodexItemBody::McpToolCall(item) if item.error.is_null() => joined_text(&item.result.content),
        CodexItemBody::McpToolCall(item) => {
            lenient::object::<McpToolError>(&item.error).message.unwrap_or_default()
        }
        CodexItemBody::DynamicToolCall(item) => joined_text(&item.content_items),
        CodexItemBody::CollabAgentToolCall(item) => subagent_states(&item.agents_states),
        CodexItemBody::WebSearch(item) if !item.results.is_null() => item.results.to_string(),
        CodexItemBody::ImageGeneration(item) => item.saved_path.clone().unwrap_or_default(),
        _ => String::new(),
    }
}

fn diffs(body: &CodexItemBody) -> Vec<FileDiff> {
    match body {
        CodexItemBody::FileChange(item) => FileChanges::parse(&item.changes).into_diffs(),
        _ => Vec::new(),
    }
}

/// One line for each subagent.
fn subagent_states(states: &Map<String, Value>) -> String {
    let line = |state: &Value| {
        let CollabAgentState { status, message } = lenient::object(state);
        let status = status.unwrap_or_default();
        message.map_or(status.clone(), |message| format!("{status}: {message}"))
    };
    states.values().map(line).collect::<Vec<_>>().join("\n")
}

/// The pictures in the result of a call.
pub(super) fn pictures(id: &str, body: &CodexItemBody) -> Vec<MessagePart> {
    let picture = |(at, (mime_type, data)): (usize, (Option<&str>, Option<&str>))| MessagePart {
        id: format!("{id}:image{at}"),
        content: PartContent::Image {
            mime_type: mime_type.unwrap_or(PNG).to_owned(),
            data: data.map(str::to_owned),
            uri: None,
        },
    };
    match body {
        CodexItemBody::McpToolCall(item) => {
            let pictures = item.result.content.iter().filter_map(|content| match content {
                CodexContent::Image { mime_type, data } => Some((mime_type.as_deref(), data.as_deref())),
                CodexContent::Text(_) | CodexContent::Other(_) => None,
            });
            pictures.enumerate().map(picture).collect()
        }
        CodexItemBody::ImageGeneration(item) => {
            item.result.iter().map(|data| (None, Some(data.as_str()))).enumerate().map(picture).collect()
        }
        _ => Vec::new(),
    }
}
