//! The results of tools.

use protocol::relay::tool::{ToolCallResult, ToolContent, ToolPart};
use relay::environment::Error;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

/// A result with text.
pub(crate) fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// A result with text and structured content. Some agents show their model only the latter, so it must be complete.
pub(crate) fn both(text: impl Into<String>, structured: Value) -> CallToolResult {
    let mut result = self::text(text);
    result.structured_content = Some(structured);
    result
}

/// A failure. It is a result and not a protocol error, so that the model reads it and can try something else.
pub(crate) fn failed(error: &Error) -> CallToolResult {
    let (code, message) = (error.code().as_str(), error.to_string());
    let mut result = failed_without_structure(error);
    result.structured_content = Some(json!({ "code": code, "message": message }));
    result
}

/// A failure of a tool with an output schema. It has no structured content, because clients check that against the schema.
pub(crate) fn failed_without_structure(error: &Error) -> CallToolResult {
    let (code, message) = (error.code().as_str(), error.to_string());
    CallToolResult::error(vec![ContentBlock::text(format!("{code}: {message}"))])
}

/// The result of a tool of the device.
pub(crate) fn tool(ToolCallResult { content, structured, is_error }: ToolCallResult) -> CallToolResult {
    let content = match content {
        ToolContent::Text(text) => vec![ContentBlock::text(text)],
        ToolContent::Parts(parts) => parts.into_iter().map(part).collect(),
    };
    let mut result = if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = structured;
    result
}

fn part(part: ToolPart) -> ContentBlock {
    match part {
        ToolPart::Text { text } => ContentBlock::text(text),
        ToolPart::Image { data, mime_type } => ContentBlock::image(data, mime_type),
        ToolPart::Artifact { artifact_id, mime_type } => ContentBlock::text(format!(
            "artifact {artifact_id} ({})",
            mime_type.as_deref().unwrap_or("unknown type")
        )),
        // Audio, embedded resources and links have the form of MCP. Content of another kind becomes text, so that the model can
        // read it.
        ToolPart::Other(fields) => {
            let text = Value::Object(fields.clone()).to_string();
            serde_json::from_value(fields.into()).unwrap_or_else(|_| ContentBlock::text(text))
        }
    }
}
