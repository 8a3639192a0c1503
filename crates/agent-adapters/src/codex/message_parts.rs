//! Parts of messages, and the ids that join deltas to their parts.

use protocol::message::{DeltaKind, MessagePart, PartContent, ToolCall, ToolResult};

use super::thread_item::ReasoningItem;

/// The id of the part with the result of a call.
pub(super) fn result_id(call: &str) -> String {
    format!("{call}:result")
}

/// The id of a section of the summary of thoughts.
pub(super) fn summary_id(item: &str, index: u64) -> String {
    format!("{item}:{index}")
}

/// The id of a section of the thoughts themselves.
pub(super) fn thought_id(item: &str, index: u64) -> String {
    format!("{item}:raw{index}")
}

pub(super) fn call_part(call: ToolCall) -> MessagePart {
    MessagePart { id: call.call_id.clone(), content: PartContent::ToolCall(call) }
}

pub(super) fn result_part(result: ToolResult) -> MessagePart {
    MessagePart { id: result_id(&result.call_id), content: PartContent::ToolResult(result) }
}

/// A part with text, or with thoughts.
pub(super) fn text_part(id: String, kind: DeltaKind, text: String) -> MessagePart {
    let content = match kind {
        DeltaKind::Reasoning => PartContent::Reasoning { text },
        DeltaKind::Text | DeltaKind::ToolOutput | DeltaKind::Other => PartContent::Text { text },
    };
    MessagePart { id, content }
}

/// The part of an item that consists of text; none if the text is empty.
pub(super) fn text_parts(id: &str, text: Option<&str>) -> Vec<MessagePart> {
    let text = text.filter(|text| !text.is_empty());
    text.map(|text| text_part(id.to_owned(), DeltaKind::Text, text.to_owned())).into_iter().collect()
}

/// The parts of thoughts: their summary, and the thoughts themselves where Codex sends them.
pub(super) fn reasoning_parts(id: &str, item: &ReasoningItem) -> Vec<MessagePart> {
    let sections = |texts: &[String], part_id: fn(&str, u64) -> String| {
        let part =
            |(index, text): (u64, &String)| text_part(part_id(id, index), DeltaKind::Reasoning, text.clone());
        (0..).zip(texts).map(part).collect::<Vec<_>>()
    };
    [sections(&item.summary, summary_id), sections(&item.content, thought_id)].concat()
}
