//! What is in a message: the blocks of the Messages API.

use protocol::{
    message::{MessagePart, PartContent},
    sessions::MessageAttachment,
};
use serde_json::{Value, json};

use super::text;
use crate::Prompt;

/// The blocks of what somebody says.
///
/// What was said comes last, where commands are looked for; a file is mentioned in it, and the agent reads it.
pub(crate) fn blocks(prompt: &Prompt) -> Vec<Value> {
    let mut blocks = Vec::new();
    let mut said = prompt.text.clone();
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
                said.push_str(&format!("\n\n@\"{path}\""))
            }
            MessageAttachment::File { path } => said.push_str(&format!("\n\n@{path}")),
        }
    }
    blocks.push(json!({ "type": "text", "text": said }));
    blocks
}

/// The part that a block is, unless it is a call or a result; none if it says nothing.
pub(crate) fn part(id: String, block: &Value) -> Option<MessagePart> {
    let content = match text(block, "type") {
        Some("text") => PartContent::Text { text: text(block, "text")?.into() },
        Some("thinking") => PartContent::Reasoning { text: text(block, "thinking")?.into() },
        // Only the model can read it.
        Some("redacted_thinking") => return None,
        Some("image") => image(block),
        _ => PartContent::Unparsed { raw: block.clone(), error: "a block of an unknown type".into() },
    };
    Some(MessagePart { id, content })
}

/// What a tool gave, as text, and what else it gave.
pub(crate) fn output(call: &str, content: Option<&Value>) -> (String, Vec<MessagePart>) {
    let blocks = match content {
        None | Some(Value::Null) => return (String::new(), Vec::new()),
        Some(Value::String(text)) => return (text.clone(), Vec::new()),
        Some(Value::Array(blocks)) => blocks,
        Some(other) => return (other.to_string(), Vec::new()),
    };
    let (mut lines, mut others) = (Vec::new(), Vec::new());
    for (n, block) in blocks.iter().enumerate() {
        match text(block, "type") {
            Some("text") => lines.extend(text(block, "text").map(str::to_owned)),
            Some("image") => {
                others.push(MessagePart { id: format!("{call}:result:{n}"), content: image(block) })
            }
            _ => lines.push(block.to_string()),
        }
    }
    (lines.join("\n"), others)
}

fn image(block: &Value) -> PartContent {
    let source = block.get("source").unwrap_or(&Value::Null);
    let owned = |key: &str| text(source, key).map(str::to_owned);
    PartContent::Image {
        mime_type: owned("media_type").unwrap_or_default(),
        data: owned("data"),
        uri: owned("url"),
    }
}
