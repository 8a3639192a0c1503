//! What a tool of an MCP server answers, as it is said here.

use protocol::relay::tool::{ToolCallResult, ToolContent, ToolPart};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value};

/// The same answer.
pub(crate) fn of(result: CallToolResult) -> ToolCallResult {
    let mut parts: Vec<_> = result.content.into_iter().map(part).collect();
    let content = match (parts.pop(), parts.is_empty()) {
        (Some(ToolPart::Text { text }), true) => ToolContent::Text(text),
        (last, _) => ToolContent::Parts(parts.into_iter().chain(last).collect()),
    };
    ToolCallResult {
        content,
        structured: result.structured_content,
        is_error: result.is_error.unwrap_or(false),
    }
}

fn part(block: ContentBlock) -> ToolPart {
    match block {
        ContentBlock::Text(text) => ToolPart::Text { text: text.text },
        ContentBlock::Image(image) => ToolPart::Image { data: image.data, mime_type: image.mime_type },
        // As it was said: whoever knows it may use it.
        other => match serde_json::to_value(other) {
            Ok(Value::Object(said)) => ToolPart::Other(said),
            _ => ToolPart::Other(Map::new()),
        },
    }
}
