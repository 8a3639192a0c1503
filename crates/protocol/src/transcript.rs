//! Assembles the messages of a session from its events.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::{
    Event, EventRecord, Message,
    message::{DeltaKind, MessageDelta, MessagePart, PartContent, ToolResult},
};

/// The messages of a session, assembled from its events. Applying an event a second time changes nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transcript {
    messages: Vec<Message>,
    /// The index of each message, by its id.
    index_by_id: HashMap<String, usize>,
    seq: u64,
}

/// The effect of an event on a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyOutcome {
    /// The event was applied.
    Applied,
    /// The event was applied before.
    Repeated,
    /// Events are missing before this one, so it was not applied.
    Gap {
        /// The sequence number of the next event to apply.
        expected: u64,
    },
}

impl Transcript {
    /// Starts from the messages after the event `seq`.
    pub fn resume(messages: Vec<Message>, seq: u64) -> Self {
        let index_by_id =
            messages.iter().enumerate().map(|(index, message)| (message.id.clone(), index)).collect();
        Self { messages, index_by_id, seq }
    }

    /// Applies the next event.
    pub fn apply(&mut self, record: &EventRecord) -> ApplyOutcome {
        if record.seq <= self.seq {
            return ApplyOutcome::Repeated;
        }
        if record.seq != self.seq + 1 {
            return ApplyOutcome::Gap { expected: self.seq + 1 };
        }
        self.seq = record.seq;
        self.apply_event(&record.event, record.time);
        ApplyOutcome::Applied
    }

    /// Applies an event that was recorded at `time` and that the caller knows to be the next one. Returns the index of the
    /// message that it changed.
    pub fn apply_event(&mut self, event: &Event, time: Timestamp) -> Option<usize> {
        let index = match event {
            Event::Message(message) => self.merge_message(message, time),
            Event::MessageDelta(delta) => self.append_delta(delta),
            _ => None,
        }?;
        self.messages[index].updated_at = Some(time);
        Some(index)
    }

    /// The messages so far, in order.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The sequence number of the last applied event.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Removes all messages but the last `keep`, and returns the removed ones in order.
    pub fn keep_last(&mut self, keep: usize) -> Vec<Message> {
        let rest = self.messages.split_off(self.messages.len().saturating_sub(keep));
        let removed = std::mem::take(&mut self.messages);
        *self = Self::resume(rest, self.seq);
        removed
    }

    fn merge_message(&mut self, new: &Message, time: Timestamp) -> Option<usize> {
        let Some(&index) = self.index_by_id.get(&new.id) else {
            // The message precedes those that we have, so appending it would put it in the wrong place.
            if new.older_than_snapshot {
                return None;
            }
            self.index_by_id.insert(new.id.clone(), self.messages.len());
            self.messages.push(Message { created_at: Some(time), ..new.clone() });
            return Some(self.messages.len() - 1);
        };
        let old = &mut self.messages[index];
        old.role = new.role;
        old.author = new.author.clone().or_else(|| old.author.take());
        old.turn_id = new.turn_id.or(old.turn_id);
        old.parent_tool_call_id = new.parent_tool_call_id.clone().or_else(|| old.parent_tool_call_id.take());
        for part in &new.parts {
            match old.parts.iter_mut().find(|known| known.id == part.id) {
                Some(known) => known.clone_from(part),
                None => old.parts.push(part.clone()),
            }
        }
        Some(index)
    }

    fn append_delta(&mut self, delta: &MessageDelta) -> Option<usize> {
        // A message always precedes its deltas. A delta of an unknown message comes from a faulty peer and is ignored.
        let &index = self.index_by_id.get(&delta.message_id)?;
        let parts = &mut self.messages[index].parts;
        match parts.iter_mut().find(|part| part.id == delta.part_id) {
            Some(part) => append_text(&mut part.content, delta),
            None => {
                let mut content = empty_content(delta);
                append_text(&mut content, delta);
                parts.push(MessagePart { id: delta.part_id.clone(), content });
            }
        }
        Some(index)
    }
}

fn empty_content(delta: &MessageDelta) -> PartContent {
    match delta.kind {
        DeltaKind::Reasoning => PartContent::Reasoning { text: String::new() },
        DeltaKind::ToolOutput => {
            // A tool result has the id of its call.
            PartContent::ToolResult(ToolResult { call_id: delta.part_id.clone(), ..ToolResult::default() })
        }
        DeltaKind::Text | DeltaKind::Other => PartContent::Text { text: String::new() },
    }
}

fn append_text(content: &mut PartContent, delta: &MessageDelta) {
    match content {
        PartContent::Text { text } | PartContent::Reasoning { text } => text.push_str(&delta.text),
        PartContent::ToolResult(result) => result.output.push_str(&delta.text),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
