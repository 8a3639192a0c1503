//! Message parts whose beginning a viewer does not get.

use std::collections::HashMap;

use protocol::{Event, Message, message::PartContent};

/// The ids of a message and of a part of it.
type MessagePartKey = (String, String);

/// Finds the message parts whose beginning precedes these events. The beginning is known if the deltas are a prefix of the
/// whole text, which a later event or one of the resulting `messages` contains.
pub fn lost<'a>(events: impl Iterator<Item = &'a Event>, messages: &[Message]) -> Vec<MessagePartKey> {
    let (mut said, mut lost) = (HashMap::new(), Vec::new());
    for event in events {
        match event {
            Event::MessageDelta(delta) => {
                let name = (delta.message_id.clone(), delta.part_id.clone());
                said.entry(name).or_insert_with(String::new).push_str(&delta.text);
            }
            Event::Message(message) => settle(message, &mut said, &mut lost),
            _ => {}
        }
    }
    for message in messages {
        settle(message, &mut said, &mut lost);
    }
    lost.extend(said.into_keys());
    lost
}

/// Compares the deltas of a message with its whole text.
fn settle(message: &Message, said: &mut HashMap<MessagePartKey, String>, lost: &mut Vec<MessagePartKey>) {
    for part in &message.parts {
        let name = (message.id.clone(), part.id.clone());
        let Some(pieces) = said.remove(&name) else { continue };
        if !text(&part.content).is_some_and(|whole| whole.starts_with(&pieces)) {
            lost.push(name);
        }
    }
}

/// The text of a part that can arrive in deltas.
pub(super) fn text(content: &PartContent) -> Option<&str> {
    match content {
        PartContent::Text { text } | PartContent::Reasoning { text } => Some(text),
        PartContent::ToolResult(result) => Some(&result.output),
        _ => None,
    }
}
