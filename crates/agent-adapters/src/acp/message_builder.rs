//! The agent's message of one turn, built from its updates.

use std::collections::BTreeMap;

use protocol::{
    Event, Message,
    message::{DeltaKind, MessageDelta, MessagePart, MessageRole, PartContent},
};

use super::{
    content_block::ContentBlock, tool_call_update::AcpToolCallUpdate, tracked_tool_call::TrackedToolCall,
};
use crate::{Out, message_ids::MessageIds};

/// Builds the agent's message of one turn: texts, reasoning and tool calls in the order of its updates.
pub(super) struct MessageBuilder {
    ids: MessageIds,
    /// The id of the message, once it has begun.
    message: Option<String>,
    /// The number of texts and other blocks in the message, which are named by their places.
    blocks: u64,
    text: Option<AcpStreamedText>,
    /// The tool calls of the turn by their ids, with the message that each is part of.
    tool_calls: BTreeMap<String, (String, TrackedToolCall)>,
}

/// The text that the agent is streaming.
struct AcpStreamedText {
    part_id: String,
    kind: DeltaKind,
    text: String,
}

impl MessageBuilder {
    pub(super) fn new(run: &str) -> Self {
        Self { ids: MessageIds::new(run), message: None, blocks: 0, text: None, tool_calls: BTreeMap::new() }
    }

    /// Adds output that the adapter does not understand, as a message of its own.
    pub(super) fn add_unparsed(&mut self, line: &[u8], error: impl Into<String>, out: &mut Out) {
        out.unparsed(self.ids.mint(), line, error);
    }

    /// Adds a block of content, which continues the text before it if both are of the same kind.
    pub(super) fn add_block(&mut self, block: ContentBlock, kind: DeltaKind, out: &mut Out) {
        match block {
            ContentBlock::Text { text } => self.add_text(text, kind, out),
            other => {
                self.complete_text(out);
                let (message, id) = (self.message(out), self.next_block());
                let part = MessagePart { id, content: other.into_part_content() };
                out.event(Event::Message(agent_message(message, vec![part])));
            }
        }
    }

    fn add_text(&mut self, text: String, kind: DeltaKind, out: &mut Out) {
        if self.text.as_ref().is_some_and(|streamed| streamed.kind != kind) {
            self.complete_text(out);
        }
        let message_id = self.message(out);
        let mut streamed = match self.text.take() {
            Some(streamed) => streamed,
            None => AcpStreamedText { part_id: self.next_block(), kind, text: String::new() },
        };
        streamed.text.push_str(&text);
        let part_id = streamed.part_id.clone();
        self.text = Some(streamed);
        out.event(Event::MessageDelta(MessageDelta { message_id, part_id, kind, text }));
    }

    /// Applies an update of a tool call, which may be the first that names it.
    pub(super) fn update_tool_call(&mut self, update: AcpToolCallUpdate, out: &mut Out) {
        let Some(id) = update.tool_call_id.clone() else { return };
        self.complete_text(out);
        let message = match self.tool_calls.get(&id) {
            Some((message, _)) => message.clone(),
            None => self.message(out),
        };
        let call = || (message.clone(), TrackedToolCall::new(&id));
        let (_, call) = self.tool_calls.entry(id.clone()).or_insert_with(call);
        let parts = call.apply(update);
        if !parts.is_empty() {
            out.event(Event::Message(agent_message(message, parts)));
        }
    }

    /// Ends the turn: completes the message and cancels the tool calls that have not ended.
    pub(super) fn end_turn(&mut self, out: &mut Out) {
        self.end_message(out);
        for (message, mut call) in std::mem::take(&mut self.tool_calls).into_values() {
            if let Some(part) = call.cancel() {
                out.event(Event::Message(agent_message(message, vec![part])));
            }
        }
    }

    /// Completes the message. Later updates belong to another one.
    pub(super) fn end_message(&mut self, out: &mut Out) {
        self.complete_text(out);
        self.message = None;
        self.blocks = 0;
    }

    fn complete_text(&mut self, out: &mut Out) {
        let Some(AcpStreamedText { part_id: id, kind, text }) = self.text.take() else { return };
        let content = match kind {
            DeltaKind::Reasoning => PartContent::Reasoning { text },
            _ => PartContent::Text { text },
        };
        let message = self.message(out);
        out.event(Event::Message(agent_message(message, vec![MessagePart { id, content }])));
    }

    fn next_block(&mut self) -> String {
        self.blocks += 1;
        (self.blocks - 1).to_string()
    }

    /// The id of the message. A new message is published before its parts.
    fn message(&mut self, out: &mut Out) -> String {
        if let Some(message) = &self.message {
            return message.clone();
        }
        let id = self.ids.mint();
        out.event(Event::Message(agent_message(id.clone(), Vec::new())));
        self.message = Some(id.clone());
        id
    }
}

fn agent_message(id: String, parts: Vec<MessagePart>) -> Message {
    Message::new(id, MessageRole::Assistant, parts)
}
