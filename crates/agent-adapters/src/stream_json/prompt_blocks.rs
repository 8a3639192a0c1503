//! A user's message as blocks of the Messages API.

use protocol::sessions::MessageAttachment;
use serde_json::{Value, json};

use crate::Prompt;

/// Renders a user's message.
///
/// The text comes last, because the agent looks for commands in the last block. The text mentions attached files, and the agent
/// reads them.
pub(crate) fn prompt_blocks(prompt: &Prompt) -> Vec<Value> {
    let mut blocks = Vec::new();
    let mut message = prompt.text.clone();
    for attachment in &prompt.attachments {
        match attachment {
            MessageAttachment::Image { mime_type, data } => blocks.push(json!({
                "type": "image", "source": { "type": "base64", "media_type": mime_type, "data": data },
            })),
            MessageAttachment::Text { name, text } => {
                let name = name.as_deref().unwrap_or("text");
                blocks.push(json!({ "type": "text", "text": format!("<attachment name={name:?}>\n{text}\n</attachment>") }));
            }
            MessageAttachment::File { path } if path.contains(char::is_whitespace) => {
                message.push_str(&format!("\n\n@\"{path}\""))
            }
            MessageAttachment::File { path } => message.push_str(&format!("\n\n@{path}")),
        }
    }
    blocks.push(json!({ "type": "text", "text": message }));
    blocks
}
