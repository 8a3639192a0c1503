//! What somebody says, as input of a turn.

use protocol::sessions::MessageAttachment;
use serde_json::{Value, json};

use crate::Prompt;

/// A prompt with what goes with it.
pub(super) fn input(prompt: &Prompt) -> Value {
    std::iter::once(text(&prompt.text)).chain(prompt.attachments.iter().map(attached)).collect()
}

/// A text.
pub(super) fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn attached(attachment: &MessageAttachment) -> Value {
    match attachment {
        MessageAttachment::Text { name: Some(name), text: content } => text(&format!("{name}:\n{content}")),
        MessageAttachment::Text { name: None, text: content } => text(content),
        // It reads files by itself.
        MessageAttachment::File { path } => text(&format!("Attached file: {path}")),
        MessageAttachment::Image { mime_type, data } => {
            json!({ "type": "image", "url": format!("data:{mime_type};base64,{data}") })
        }
    }
}
