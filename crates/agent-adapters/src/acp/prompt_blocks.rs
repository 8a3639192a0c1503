//! A user's message as blocks of content.

use std::path::Path;

use protocol::sessions::MessageAttachment;
use serde_json::{Value, json};

use crate::Prompt;

/// Renders a message of a session that works in `directory`.
pub(super) fn prompt_blocks(directory: &Path, prompt: &Prompt) -> Vec<Value> {
    let attached = prompt.attachments.iter().map(|attachment| match attachment {
        MessageAttachment::Text { name, text } => json!({ "type": "text",
            "text": name.as_ref().map_or_else(|| text.clone(), |name| format!("{name}:\n{text}")) }),
        MessageAttachment::File { path } => {
            let path = directory.join(path);
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            json!({ "type": "resource_link", "name": name, "uri": format!("file://{}", path.display()) })
        }
        MessageAttachment::Image { mime_type, data } => {
            json!({ "type": "image", "mimeType": mime_type, "data": data })
        }
    });
    std::iter::once(json!({ "type": "text", "text": prompt.text })).chain(attached).collect()
}
