//! Parts of messages.

use protocol::message::{DeltaKind, MessagePart, PartContent, ToolCall, ToolResult};
use serde_json::Value;

/// The name of the part that holds the result of a call.
pub(super) fn result_id(call: &str) -> String {
    format!("{call}:result")
}

/// The name of a section of what thoughts come to.
pub(super) fn section(item: &str, index: &Value) -> String {
    format!("{item}:{}", index.as_u64().unwrap_or_default())
}

/// The name of a section of the thoughts themselves.
pub(super) fn raw_section(item: &str, index: &Value) -> String {
    format!("{item}:raw{}", index.as_u64().unwrap_or_default())
}

/// The part of a call.
pub(super) fn call_part(call: ToolCall) -> MessagePart {
    MessagePart { id: call.call_id.clone(), content: PartContent::ToolCall(call) }
}

/// The part of a result.
pub(super) fn result_part(result: ToolResult) -> MessagePart {
    MessagePart { id: result_id(&result.call_id), content: PartContent::ToolResult(result) }
}

/// A part of text, or of what is thought.
pub(super) fn text_part((id, kind, text): (String, DeltaKind, String)) -> MessagePart {
    let content = match kind {
        DeltaKind::Reasoning => PartContent::Reasoning { text },
        _ => PartContent::Text { text },
    };
    MessagePart { id, content }
}

/// The part of an item that is text; none if there is no text.
pub(super) fn texts(id: &str, text: &Value) -> Vec<MessagePart> {
    let text = text.as_str().filter(|text| !text.is_empty());
    text.map(|text| text_part((id.to_owned(), DeltaKind::Text, text.to_owned()))).into_iter().collect()
}

/// What was thought: what it comes to, and the thoughts themselves where Codex tells them.
pub(super) fn reasoning(id: &str, item: &Value) -> Vec<MessagePart> {
    let sections = |key: &str, name: fn(&str, &Value) -> String| {
        let texts = item[key].as_array().into_iter().flatten().enumerate();
        let part = |(at, text): (usize, &Value)| {
            let text = text.as_str()?.to_owned();
            Some(text_part((name(id, &at.into()), DeltaKind::Reasoning, text)))
        };
        texts.filter_map(part).collect::<Vec<_>>()
    };
    [sections("summary", section), sections("content", raw_section)].concat()
}
