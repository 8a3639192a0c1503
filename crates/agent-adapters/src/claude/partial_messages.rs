//! Messages of the model that are being streamed.

use std::collections::BTreeMap;

use protocol::{
    Event,
    message::{DeltaKind, MessageDelta, MessagePart, MessageRole, PartContent, ToolResult},
};

use super::claude_line::StreamEvent;
use crate::{
    Out,
    stream_json::{
        api_message::ApiMessage,
        message,
        message_block::{MessageBlock, ToolResultBlock, part},
        open_calls::OpenCalls,
    },
};

/// How many messages may be streamed at once. The limit forgets subagents that ended without a whole message.
const PARTIAL_MAX: usize = 64;

/// Events and deltas without content of their own: a later line has the whole blocks.
const SILENT_EVENTS: [&str; 4] = ["content_block_stop", "message_delta", "message_stop", "ping"];
const SILENT_DELTAS: [&str; 3] = ["input_json_delta", "signature_delta", "citations_delta"];

/// Messages that are being streamed: one of the agent, and one of each subagent.
#[derive(Debug, Default)]
pub(super) struct PartialMessages {
    /// By the tool call of the subagent; the key of the agent's own message is empty.
    by_parent: BTreeMap<String, PartialMessage>,
}

#[derive(Debug, Default)]
struct PartialMessage {
    id: String,
    /// The index of the next block.
    next: u64,
    /// The index of the block that is being streamed.
    open: Option<u64>,
}

impl PartialMessages {
    /// Applies an event of the model's stream.
    ///
    /// # Errors
    /// Why the adapter does not understand the event.
    pub(super) fn apply_stream_event(
        &mut self,
        event: StreamEvent,
        parent: Option<&str>,
        calls: &mut OpenCalls,
        out: &mut Out,
    ) -> Result<(), &'static str> {
        let kind = event.kind.as_str();
        if kind == "message_start" {
            let id = event.message.id.ok_or("a message without an id")?;
            self.begin(&id, parent, out);
            return Ok(());
        }
        if SILENT_EVENTS.contains(&kind) {
            return Ok(());
        }
        let partial =
            self.by_parent.get_mut(parent.unwrap_or_default()).ok_or("it belongs to no known message")?;
        let index = event.index.ok_or("an event of an unknown type")?;
        match kind {
            "content_block_start" => {
                (partial.open, partial.next) = (Some(index), index.saturating_add(1));
                let block = event.content_block.ok_or("it has no block")?;
                if let MessageBlock::ToolUse(call) = MessageBlock::from_value(&block) {
                    let part = calls.begin(&partial.id, parent, call, false).ok_or("a call without an id")?;
                    out.event(message(&partial.id, MessageRole::Assistant, parent, vec![part]));
                }
                Ok(())
            }
            "content_block_delta" => {
                let (kind, text) = match event.delta.kind.as_str() {
                    "text_delta" => (DeltaKind::Text, event.delta.text),
                    "thinking_delta" => (DeltaKind::Reasoning, event.delta.thinking),
                    known if SILENT_DELTAS.contains(&known) => return Ok(()),
                    _ => return Err("a delta of an unknown type"),
                };
                if !text.is_empty() {
                    let (message_id, part_id) = (partial.id.clone(), index.to_string());
                    out.event(Event::MessageDelta(MessageDelta { message_id, part_id, kind, text }));
                }
                Ok(())
            }
            _ => Err("an event of an unknown type"),
        }
    }

    /// Adds whole blocks of a message, whose id is `fallback` if it has none.
    pub(super) fn add_blocks(
        &mut self,
        whole: &ApiMessage,
        parent: Option<&str>,
        fallback: &str,
        calls: &mut OpenCalls,
        out: &mut Out,
    ) {
        let id = whole.id.as_deref().unwrap_or(fallback);
        if self.by_parent.get(parent.unwrap_or_default()).is_none_or(|partial| partial.id != id) {
            self.begin(id, parent, out);
        }
        let Some(partial) = self.by_parent.get_mut(parent.unwrap_or_default()) else { return };
        let mut parts = Vec::new();
        for block in &whole.content.0 {
            // The whole block comes before its stream ends.
            let index = partial.open.take().unwrap_or(partial.next);
            partial.next = partial.next.max(index.saturating_add(1));
            parts.extend(match MessageBlock::from_value(block) {
                MessageBlock::ToolUse(call) => calls.begin(id, parent, call, true),
                MessageBlock::ToolResult(ToolResultBlock { tool_use_id: None, .. }) => {
                    part(index.to_string(), block)
                }
                MessageBlock::ToolResult(result) | MessageBlock::ServerToolResult(result) => {
                    Some(server_result(&result))
                }
                _ => part(index.to_string(), block),
            });
        }
        if !parts.is_empty() {
            out.event(message(id, MessageRole::Assistant, parent, parts));
        }
    }

    fn begin(&mut self, id: &str, parent: Option<&str>, out: &mut Out) {
        if self.by_parent.len() >= PARTIAL_MAX {
            self.by_parent.pop_last();
        }
        let partial = PartialMessage { id: id.into(), ..PartialMessage::default() };
        self.by_parent.insert(parent.unwrap_or_default().into(), partial);
        out.event(message(id, MessageRole::Assistant, parent, Vec::new()));
    }
}

/// The part with the result of a tool that the model's server ran itself.
fn server_result(result: &ToolResultBlock) -> MessagePart {
    let call_id = result.tool_use_id.clone().unwrap_or_default();
    let (output, _) = result.output(&call_id);
    let id = format!("{call_id}:result");
    MessagePart { id, content: PartContent::ToolResult(ToolResult { call_id, output, ..Default::default() }) }
}
