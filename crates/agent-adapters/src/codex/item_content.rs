//! Blocks of content: of a user message, of a hook's prompt, and of the result of a tool.

use serde::Deserialize;
use serde_json::Value;

use crate::lenient;

/// A block of content.
#[derive(Debug, Deserialize)]
#[serde(from = "Value")]
pub(super) enum CodexContent {
    Text(String),
    Image {
        mime_type: Option<String>,
        /// The picture in base64.
        data: Option<String>,
    },
    /// Anything else, as Codex sent it.
    Other(Value),
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ContentFields {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
    mime_type: Option<String>,
    data: Option<String>,
}

impl From<Value> for CodexContent {
    fn from(content: Value) -> Self {
        let ContentFields { kind, text, mime_type, data } = lenient::object(&content);
        match (text, kind.as_deref()) {
            (Some(text), _) => Self::Text(text),
            (None, Some("image")) => Self::Image { mime_type, data },
            (None, _) => Self::Other(content),
        }
    }
}

/// The text of some content. Blocks that are neither text nor picture appear as JSON.
pub(super) fn joined_text(content: &[CodexContent]) -> String {
    let text = |content: &CodexContent| match content {
        CodexContent::Text(text) => Some(text.clone()),
        CodexContent::Image { .. } => None,
        CodexContent::Other(other) => Some(other.to_string()),
    };
    content.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}
