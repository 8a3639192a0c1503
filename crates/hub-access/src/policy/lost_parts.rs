//! What was said before somebody began to look.

use std::collections::HashMap;

use protocol::{Event, Message, message::PartContent};

/// A part of a message: the names of both.
type Name = (String, String);

/// The parts of messages of whose beginning these events do not tell. That they tell it is known by the whole text, which
/// follows or is in the messages that they came to.
pub fn lost<'a>(events: impl Iterator<Item = &'a Event>, come_to: &[Message]) -> Vec<Name> {
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
    for message in come_to {
        settle(message, &mut said, &mut lost);
    }
    lost.extend(said.into_keys());
    lost
}

/// What is told whole is known from its beginning, if that is what was said.
fn settle(message: &Message, said: &mut HashMap<Name, String>, lost: &mut Vec<Name>) {
    for part in &message.parts {
        let name = (message.id.clone(), part.id.clone());
        let Some(pieces) = said.remove(&name) else { continue };
        if !text(&part.content).is_some_and(|whole| whole.starts_with(&pieces)) {
            lost.push(name);
        }
    }
}

/// The text of a part that can be said in pieces.
pub(super) fn text(content: &PartContent) -> Option<&str> {
    match content {
        PartContent::Text { text } | PartContent::Reasoning { text } => Some(text),
        PartContent::ToolResult(result) => Some(&result.output),
        _ => None,
    }
}
