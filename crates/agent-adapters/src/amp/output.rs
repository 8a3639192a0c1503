//! What Amp's tools gave: JSON, written into a text.

use protocol::message::{ToolCall, ToolKind};
use serde_json::{Value, json};

use crate::stream_json::text;

/// Takes the JSON out of a block of type `tool_result`: the block as Claude Code would say it, and what is for programs.
pub(super) fn read(block: &Value, call: Option<&ToolCall>) -> (Value, Option<Value>) {
    let mut block = block.clone();
    let told = text(&block, "content").and_then(|content| serde_json::from_str::<Value>(content).ok());
    let (Some(told), Some(call)) = (told, call) else { return (block, None) };
    let structured = match call.kind {
        ToolKind::Execute if told.get("exitCode").is_some() => {
            block["content"] = told.get("output").cloned().unwrap_or_default();
            Some(json!({ "exitCode": told["exitCode"] }))
        }
        ToolKind::Edit => text(&told, "diff").map(|fenced| {
            let diff = fenced.strip_prefix("```diff\n").unwrap_or(fenced);
            let diff = diff.strip_suffix("```").unwrap_or(diff);
            block["content"] = diff.into();
            json!({ "filePath": call.input.get("path"), "unified": diff })
        }),
        ToolKind::Mcp if told.is_array() => {
            block["content"] = told;
            None
        }
        _ => None,
    };
    (block, structured)
}

/// Whether a rule did not allow the call.
pub(super) fn prevented(block: &Value) -> bool {
    text(block, "content").is_some_and(|content| content.starts_with("Tool execution rejected"))
}
