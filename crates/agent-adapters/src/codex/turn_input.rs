//! Parameters of `turn/start` and `turn/steer`.

use protocol::sessions::MessageAttachment;
use serde::Serialize;
use serde_json::{Value, json};

use crate::Prompt;

/// The parameters of `turn/start`. Codex keeps what a turn does not mention as it was.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnStartParams {
    pub(super) thread_id: Option<String>,
    /// Comes back in the item of the message.
    client_user_message_id: String,
    input: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) approval_policy: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sandbox_policy: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) collaboration_mode: Option<Value>,
}

impl TurnStartParams {
    pub(super) fn new(client_user_message_id: String, input: Value) -> Self {
        Self {
            thread_id: None,
            client_user_message_id,
            input,
            approval_policy: None,
            sandbox_policy: None,
            collaboration_mode: None,
        }
    }
}

/// A prompt with its attachments, as the input of a turn.
pub(super) fn prompt_input(prompt: &Prompt) -> Value {
    std::iter::once(text_input(&prompt.text)).chain(prompt.attachments.iter().map(attachment_input)).collect()
}

/// One text of the input of a turn.
pub(super) fn text_input(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn attachment_input(attachment: &MessageAttachment) -> Value {
    match attachment {
        MessageAttachment::Text { name: Some(name), text } => text_input(&format!("{name}:\n{text}")),
        MessageAttachment::Text { name: None, text } => text_input(text),
        // Codex reads files by itself.
        MessageAttachment::File { path } => text_input(&format!("Attached file: {path}")),
        MessageAttachment::Image { mime_type, data } => {
            json!({ "type": "image", "url": format!("data:{mime_type};base64,{data}") })
        }
    }
}
