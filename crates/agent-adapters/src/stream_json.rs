//! What the streams of Claude Code and Amp have in common: the shapes of messages, tool calls and their results.

pub(super) mod calls;
pub(super) mod content;
pub(super) mod diff;
pub(super) mod mcp;
pub(super) mod tools;

use protocol::{
    Event, Message,
    event::TokenUsage,
    message::{MessagePart, MessageRole},
};
use serde_json::Value;

use super::Heard;

/// The line that the agent wrote. Fails for anything else, with what was received and why it is of no use.
pub(super) fn line(heard: Heard<'_>) -> Result<&[u8], (&[u8], String)> {
    match heard {
        Heard::Line(line) => Ok(line),
        Heard::TooLong { bytes } => Err((b"", format!("a line of {bytes} bytes is too long to be read"))),
        Heard::Answer { body, .. } => Err((body, "nothing was called".into())),
    }
}

/// A message, or those parts of it that are new.
pub(super) fn message(id: &str, role: MessageRole, parent: Option<&str>, parts: Vec<MessagePart>) -> Event {
    Event::Message(Message { parent_tool_call_id: parent.map(Into::into), ..Message::new(id, role, parts) })
}

/// The text under `key`; none if there is none, or it is empty.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// The list under `key`.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The tool call of whose inner life a line is part.
pub(super) fn parent(line: &Value) -> Option<&str> {
    text(line, "parent_tool_use_id")
}

/// What a `usage` of the Messages API says.
pub(super) fn usage(said: &Value) -> TokenUsage {
    let count = |key: &str| said.get(key).and_then(Value::as_u64).unwrap_or_default();
    TokenUsage {
        // What is put into a cache is read like everything else.
        input_tokens: count("input_tokens").saturating_add(count("cache_creation_input_tokens")),
        output_tokens: count("output_tokens"),
        cached_tokens: count("cache_read_input_tokens"),
        reasoning_tokens: said
            .pointer("/output_tokens_details/thinking_tokens")
            .and_then(Value::as_u64)
            .unwrap_or(0),
        ..TokenUsage::default()
    }
}

/// How many tokens the conversation holds after a message with this usage.
pub(super) fn context(usage: &TokenUsage) -> u64 {
    usage.input_tokens.saturating_add(usage.cached_tokens).saturating_add(usage.output_tokens)
}
