//! A block of a message of the Messages API.

use protocol::message::{MessagePart, PartContent};
use serde::Deserialize;
use serde_json::Value;

use crate::lenient;

/// A block of a message.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum MessageBlock {
    Text {
        #[serde(default)]
        text: String,
    },
    Thinking {
        #[serde(default)]
        thinking: String,
    },
    /// Reasoning that only the model can read.
    RedactedThinking,
    Image {
        #[serde(default, deserialize_with = "lenient::field")]
        source: ImageSource,
    },
    #[serde(alias = "server_tool_use", alias = "mcp_tool_use")]
    ToolUse(ToolUseBlock),
    ToolResult(ToolResultBlock),
    /// The result of a tool that the model's server ran itself; each such tool has a type of its own.
    #[serde(skip)]
    ServerToolResult(ToolResultBlock),
    #[serde(skip)]
    Unknown,
}

/// A tool call, or the beginning of one that is streamed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ToolUseBlock {
    #[serde(deserialize_with = "lenient::text")]
    pub(crate) id: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(crate) name: Option<String>,
    /// The arguments, which clients see as they are.
    pub(crate) input: Value,
}

/// The result of a tool call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ToolResultBlock {
    #[serde(deserialize_with = "lenient::text")]
    pub(crate) tool_use_id: Option<String>,
    /// A text, or blocks.
    pub(crate) content: Value,
    pub(crate) is_error: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ImageSource {
    media_type: String,
    #[serde(deserialize_with = "lenient::text")]
    data: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    url: Option<String>,
}

impl MessageBlock {
    pub(crate) fn from_value(block: &Value) -> Self {
        if let Ok(block) = Self::deserialize(block) {
            return block;
        }
        let result: ToolResultBlock = lenient::object(block);
        if result.tool_use_id.is_some() { Self::ServerToolResult(result) } else { Self::Unknown }
    }
}

impl ToolResultBlock {
    /// The text of the result, and parts with its images.
    pub(crate) fn output(&self, call_id: &str) -> (String, Vec<MessagePart>) {
        let blocks = match &self.content {
            Value::Null => return (String::new(), Vec::new()),
            Value::String(text) => return (text.clone(), Vec::new()),
            Value::Array(blocks) => blocks,
            other => return (other.to_string(), Vec::new()),
        };
        let (mut lines, mut images) = (Vec::new(), Vec::new());
        for (n, block) in blocks.iter().enumerate() {
            match MessageBlock::from_value(block) {
                MessageBlock::Text { text } if text.is_empty() => {}
                MessageBlock::Text { text } => lines.push(text),
                MessageBlock::Image { source } => {
                    images.push(MessagePart { id: format!("{call_id}:result:{n}"), content: source.into() })
                }
                _ => lines.push(block.to_string()),
            }
        }
        (lines.join("\n"), images)
    }
}

impl From<ImageSource> for PartContent {
    fn from(source: ImageSource) -> Self {
        Self::Image { mime_type: source.media_type, data: source.data, uri: source.url }
    }
}

/// The part of a message that shows a block, unless the block is empty. Tool calls and results are not for this function: it
/// does not understand them.
pub(crate) fn part(id: String, block: &Value) -> Option<MessagePart> {
    let content = match MessageBlock::from_value(block) {
        MessageBlock::Text { text } if text.is_empty() => return None,
        MessageBlock::Text { text } => PartContent::Text { text },
        MessageBlock::Thinking { thinking } if thinking.is_empty() => return None,
        MessageBlock::Thinking { thinking } => PartContent::Reasoning { text: thinking },
        MessageBlock::RedactedThinking => return None,
        MessageBlock::Image { source } => source.into(),
        MessageBlock::ToolUse(_)
        | MessageBlock::ToolResult(_)
        | MessageBlock::ServerToolResult(_)
        | MessageBlock::Unknown => {
            PartContent::Unparsed { raw: block.clone(), error: "a block of an unknown type".into() }
        }
    };
    Some(MessagePart { id, content })
}
