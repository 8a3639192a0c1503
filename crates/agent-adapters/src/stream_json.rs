//! Common parts of the JSON streams of Claude Code and Amp: messages of the Messages API, tool calls and their results.

pub(super) mod api_message;
pub(super) mod file_diff;
pub(super) mod mcp_servers;
pub(super) mod message_block;
pub(super) mod open_calls;
pub(super) mod prompt_blocks;
pub(super) mod tool_kinds;
pub(super) mod tool_outcome;

use protocol::{
    Event, Message,
    message::{MessagePart, MessageRole},
};

use super::Heard;

/// The line that the agent wrote.
///
/// # Errors
/// For other output: the bytes received, and why they are of no use.
pub(super) fn line(output: Heard<'_>) -> Result<&[u8], (&[u8], String)> {
    match output {
        Heard::Line(line) => Ok(line),
        Heard::TooLong { bytes } => Err((b"", format!("a line of {bytes} bytes is too long to be read"))),
        Heard::Answer { body, .. } => Err((body, "nothing was called".into())),
    }
}

/// An event with new or changed parts of a message. `parent` is the tool call of the subagent that the message belongs to.
pub(super) fn message(id: &str, role: MessageRole, parent: Option<&str>, parts: Vec<MessagePart>) -> Event {
    Event::Message(Message { parent_tool_call_id: parent.map(Into::into), ..Message::new(id, role, parts) })
}
