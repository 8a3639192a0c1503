//! Items that have begun and are not complete.

use protocol::{
    Event, Message,
    message::{DeltaKind, MessageDelta, MessagePart, MessageRole, ToolCall, ToolResult, ToolStatus},
};

use super::{
    message_parts::{call_part, result_id, result_part, summary_id, text_part, thought_id},
    notification::{CodexItemDelta, DeltaTarget},
};
use crate::Out;

/// An item that has begun and is not complete.
#[derive(Debug)]
pub(super) struct OpenCodexItem {
    /// Its position among all items of the process.
    pub(super) number: u64,
    /// The message that contains it.
    pub(super) message_id: String,
    /// The call that started the subagent whose item it is.
    pub(super) parent: Option<String>,
    pub(super) call: Option<ToolCall>,
    /// The text so far. When an item is cut off, its parts are sent whole all the same.
    texts: Vec<StreamedText>,
    /// Whether the part with the call's result was sent: deltas of the output append to it.
    has_result: bool,
    /// Whether its turn is over.
    pub(super) is_settled: bool,
    /// Whether a person refused it.
    pub(super) is_refused: bool,
}

#[derive(Debug)]
struct StreamedText {
    part_id: String,
    kind: DeltaKind,
    text: String,
}

impl OpenCodexItem {
    pub(super) fn new(
        number: u64,
        message_id: String,
        parent: Option<String>,
        call: Option<ToolCall>,
    ) -> Self {
        let texts = Vec::new();
        Self {
            number,
            message_id,
            parent,
            call,
            texts,
            has_result: false,
            is_settled: false,
            is_refused: false,
        }
    }

    /// The message that contains the item, with these parts of it.
    pub(super) fn message(&self, parts: Vec<MessagePart>) -> Event {
        Event::Message(Message {
            parent_tool_call_id: self.parent.clone(),
            ..Message::new(self.message_id.clone(), MessageRole::Assistant, parts)
        })
    }

    /// Appends to the item.
    pub(super) fn append(&mut self, item_id: &str, delta: &CodexItemDelta, text: String, out: &mut Out) {
        let (part_id, kind) = match delta.target {
            DeltaTarget::Text => (item_id.to_owned(), DeltaKind::Text),
            DeltaTarget::Summary => {
                (summary_id(item_id, delta.summary_index.unwrap_or_default()), DeltaKind::Reasoning)
            }
            DeltaTarget::Thoughts => {
                (thought_id(item_id, delta.content_index.unwrap_or_default()), DeltaKind::Reasoning)
            }
            DeltaTarget::CommandOutput => {
                if !std::mem::replace(&mut self.has_result, true) {
                    let result = ToolResult { call_id: item_id.to_owned(), ..ToolResult::default() };
                    out.event(self.message(vec![result_part(result)]));
                }
                (result_id(item_id), DeltaKind::ToolOutput)
            }
        };
        if kind != DeltaKind::ToolOutput {
            match self.texts.iter_mut().find(|known| known.part_id == part_id) {
                Some(known) => known.text.push_str(&text),
                None => self.texts.push(StreamedText { part_id: part_id.clone(), kind, text: text.clone() }),
            }
        }
        let message_id = self.message_id.clone();
        out.event(Event::MessageDelta(MessageDelta { message_id, part_id, kind, text }));
    }

    /// Closes what is open of the item, because its turn is over: its text is sent whole and its call is cancelled.
    pub(super) fn settle(&mut self, out: &mut Out) {
        self.is_settled = true;
        let texts = self.texts.drain(..);
        let mut parts: Vec<_> =
            texts.map(|StreamedText { part_id, kind, text }| text_part(part_id, kind, text)).collect();
        if let Some(call) = &mut self.call {
            call.status = ToolStatus::Cancelled;
            parts.push(call_part(call.clone()));
        }
        if !parts.is_empty() {
            out.event(self.message(parts));
        }
    }
}
