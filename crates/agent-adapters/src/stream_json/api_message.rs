//! A message of the Messages API.

use protocol::event::TokenUsage;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::lenient;

/// A message of the Messages API.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ApiMessage {
    #[serde(deserialize_with = "lenient::text")]
    pub(crate) id: Option<String>,
    pub(crate) content: ApiContent,
    #[serde(deserialize_with = "lenient::field")]
    pub(crate) usage: Option<ApiUsage>,
    #[serde(deserialize_with = "lenient::text")]
    pub(crate) stop_reason: Option<String>,
}

/// The blocks of a message. A text alone is one block.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "Value")]
pub(crate) struct ApiContent(pub(crate) Vec<Value>);

impl From<Value> for ApiContent {
    fn from(content: Value) -> Self {
        match content {
            Value::Array(blocks) => Self(blocks),
            Value::String(text) => Self(vec![json!({ "type": "text", "text": text })]),
            _ => Self::default(),
        }
    }
}

/// The tokens of a message or a turn.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(default)]
pub(crate) struct ApiUsage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
    #[serde(deserialize_with = "lenient::field")]
    output_tokens_details: OutputTokensDetails,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(default)]
struct OutputTokensDetails {
    thinking_tokens: u64,
}

impl ApiUsage {
    /// The size of the conversation after a message with this usage.
    pub(crate) fn context_tokens(self) -> u64 {
        let usage = TokenUsage::from(self);
        usage.input_tokens.saturating_add(usage.cached_tokens).saturating_add(usage.output_tokens)
    }
}

impl From<ApiUsage> for TokenUsage {
    fn from(usage: ApiUsage) -> Self {
        Self {
            // The model reads input that goes into the cache like any other.
            input_tokens: usage.input_tokens.saturating_add(usage.cache_creation_input_tokens),
            output_tokens: usage.output_tokens,
            cached_tokens: usage.cache_read_input_tokens,
            reasoning_tokens: usage.output_tokens_details.thinking_tokens,
            ..Self::default()
        }
    }
}
