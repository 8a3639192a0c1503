//! A block of content: text, an image, a file.

use protocol::message::PartContent;
use serde::Deserialize;
use serde_json::Value;

use crate::lenient;

/// A block of content.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(super) enum ContentBlock {
    Text {
        text: String,
    },
    Image {
        mime_type: Option<String>,
        data: Option<String>,
        uri: Option<String>,
    },
    ResourceLink {
        name: Option<String>,
        mime_type: Option<String>,
        uri: Option<String>,
    },
    Resource {
        #[serde(default, deserialize_with = "lenient::field")]
        resource: EmbeddedResource,
    },
    /// A block of another type, as the agent sent it.
    #[serde(skip)]
    Unknown(Value),
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct EmbeddedResource {
    mime_type: Option<String>,
    uri: Option<String>,
    text: Option<String>,
}

impl ContentBlock {
    pub(super) fn from_value(block: Value) -> Self {
        Self::deserialize(&block).unwrap_or(Self::Unknown(block))
    }

    /// The content of the part of a message that shows the block.
    pub(super) fn into_part_content(self) -> PartContent {
        match self {
            Self::Text { text } => PartContent::Text { text },
            Self::Image { mime_type, data, uri } => {
                PartContent::Image { mime_type: mime_type.unwrap_or_default(), data, uri }
            }
            Self::ResourceLink { name, mime_type, uri } => {
                PartContent::File { name, mime_type, uri, text: None }
            }
            Self::Resource { resource: EmbeddedResource { mime_type, uri, text } } => {
                PartContent::File { name: None, mime_type, uri, text }
            }
            Self::Unknown(raw) => {
                let kind = raw.get("type").and_then(Value::as_str).unwrap_or_default();
                PartContent::Unparsed { error: format!("unknown content type `{kind}`"), raw }
            }
        }
    }
}
