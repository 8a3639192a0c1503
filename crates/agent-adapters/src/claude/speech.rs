//! What the model says: streamed piece by piece, and then whole.

use std::collections::BTreeMap;

use protocol::{
    Event,
    message::{DeltaKind, MessageDelta, MessagePart, MessageRole, PartContent},
};
use serde_json::Value;

use crate::{
    Out,
    stream_json::{calls::Calls, content, list, message, text},
};

/// How many agents may speak at once. It keeps those that ended without a word from being remembered for ever.
const SPEAKERS_MAX: usize = 64;

/// Events of the model's stream, and deltas in it, that say nothing to people: what they lead to is told whole later.
const SILENT: [&str; 4] = ["content_block_stop", "message_delta", "message_stop", "ping"];
const SILENT_DELTAS: [&str; 3] = ["input_json_delta", "signature_delta", "citations_delta"];

/// The messages that are being said: one by the agent, and one by each agent that it started.
#[derive(Debug, Default)]
pub(super) struct Speeches {
    /// By the call that started the speaker; the agent itself has an empty name.
    by_parent: BTreeMap<String, Speech>,
}

#[derive(Debug, Default)]
struct Speech {
    /// The message.
    id: String,
    /// The place of the next block.
    next: u64,
    /// The block that is being streamed.
    open: Option<u64>,
}

impl Speeches {
    /// An event of the model's stream.
    ///
    /// # Errors
    /// Why it was not understood.
    pub(super) fn stream(
        &mut self,
        event: &Value,
        parent: Option<&str>,
        calls: &mut Calls,
        out: &mut Out,
    ) -> Result<(), &'static str> {
        let kind = text(event, "type").unwrap_or_default();
        if kind == "message_start" {
            let id = event.pointer("/message/id").and_then(Value::as_str).ok_or("a message without an id")?;
            self.begin(id, parent, out);
            return Ok(());
        }
        if SILENT.contains(&kind) {
            return Ok(());
        }
        let speech =
            self.by_parent.get_mut(parent.unwrap_or_default()).ok_or("it belongs to no known message")?;
        let index = event.get("index").and_then(Value::as_u64).ok_or("an event of an unknown type")?;
        match kind {
            "content_block_start" => {
                (speech.open, speech.next) = (Some(index), index.saturating_add(1));
                let block = event.get("content_block").ok_or("it has no block")?;
                if is_call(block) {
                    let part = calls.told(&speech.id, parent, block, false).ok_or("a call without an id")?;
                    out.event(message(&speech.id, MessageRole::Assistant, parent, vec![part]));
                }
                Ok(())
            }
            "content_block_delta" => {
                let delta = event.get("delta").unwrap_or(&Value::Null);
                let (kind, key) = match text(delta, "type") {
                    Some("text_delta") => (DeltaKind::Text, "text"),
                    Some("thinking_delta") => (DeltaKind::Reasoning, "thinking"),
                    Some(known) if SILENT_DELTAS.contains(&known) => return Ok(()),
                    _ => return Err("a delta of an unknown type"),
                };
                if let Some(text) = text(delta, key) {
                    out.event(Event::MessageDelta(MessageDelta {
                        message_id: speech.id.clone(),
                        part_id: index.to_string(),
                        kind,
                        text: text.into(),
                    }));
                }
                Ok(())
            }
            _ => Err("an event of an unknown type"),
        }
    }

    /// A line with whole blocks of a message, which is called `fallback` if it has no name.
    pub(super) fn said(
        &mut self,
        said: &Value,
        parent: Option<&str>,
        fallback: &str,
        calls: &mut Calls,
        out: &mut Out,
    ) {
        let id = text(said, "id").unwrap_or(fallback);
        if self.by_parent.get(parent.unwrap_or_default()).is_none_or(|speech| speech.id != id) {
            self.begin(id, parent, out);
        }
        let Some(speech) = self.by_parent.get_mut(parent.unwrap_or_default()) else { return };
        let mut parts = Vec::new();
        for block in list(said, "content") {
            // A block is told whole before its stream says that it has ended.
            let index = speech.open.take().unwrap_or(speech.next);
            speech.next = speech.next.max(index.saturating_add(1));
            let part = if is_call(block) {
                calls.told(id, parent, block, true)
            } else if let Some(call) = text(block, "tool_use_id") {
                Some(server_result(call, block))
            } else {
                content::part(index.to_string(), block)
            };
            parts.extend(part);
        }
        if !parts.is_empty() {
            out.event(message(id, MessageRole::Assistant, parent, parts));
        }
    }

    fn begin(&mut self, id: &str, parent: Option<&str>, out: &mut Out) {
        if self.by_parent.len() >= SPEAKERS_MAX {
            self.by_parent.pop_last();
        }
        let speech = Speech { id: id.into(), ..Speech::default() };
        self.by_parent.insert(parent.unwrap_or_default().into(), speech);
        out.event(message(id, MessageRole::Assistant, parent, Vec::new()));
    }
}

fn is_call(block: &Value) -> bool {
    matches!(text(block, "type"), Some("tool_use" | "server_tool_use" | "mcp_tool_use"))
}

/// The result of a tool that the model's server ran itself.
fn server_result(call: &str, block: &Value) -> MessagePart {
    let (output, _) = content::output(call, block.get("content"));
    let result = protocol::message::ToolResult { call_id: call.into(), output, ..Default::default() };
    MessagePart { id: format!("{call}:result"), content: PartContent::ToolResult(result) }
}
