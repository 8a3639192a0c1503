//! What a model gets to read.

use protocol::relay::tool::{ToolCallResult, ToolContent, ToolPart};
use relay::environment::Error;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

/// A text.
pub(crate) fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// A text, and the same for programs. Some agents show their model only the second, so it must lack nothing that matters.
pub(crate) fn both(text: impl Into<String>, structured: Value) -> CallToolResult {
    let mut result = self::text(text);
    result.structured_content = Some(structured);
    result
}

/// Why it came to nothing: the model can read it and try otherwise.
pub(crate) fn failed(error: &Error) -> CallToolResult {
    let (code, message) = (error.code().as_str(), error.to_string());
    let mut result = failed_without_structure(error);
    result.structured_content = Some(json!({ "code": code, "message": message }));
    result
}

/// The same for a tool with an output schema: clients check structured content against it, also that of a failure.
pub(crate) fn failed_without_structure(error: &Error) -> CallToolResult {
    let (code, message) = (error.code().as_str(), error.to_string());
    CallToolResult::error(vec![ContentBlock::text(format!("{code}: {message}"))])
}

/// What a tool of the device answered.
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
        // Audio, embedded resources and links come as MCP writes them. A model at least reads what is something else.
        ToolPart::Other(fields) => {
            let text = Value::Object(fields.clone()).to_string();
            serde_json::from_value(fields.into()).unwrap_or_else(|_| ContentBlock::text(text))
        }
    }
}
