//! What came of the use of a tool.

use protocol::relay::{
    RawJson, RelayError, RelayErrorCode,
    tool::{ToolCallResult, ToolContent},
};
use serde::Deserialize;
use serde_json::Value;

/// The largest answer: it must fit in one message with something to spare.
pub(crate) const RESULT_BYTES_MAX: usize = 900 << 10;

/// The longest text that is made an answer: as JSON it may be six times as long.
pub(crate) const TEXT_BYTES_MAX: usize = 128 << 10;

/// An answer that fits in one message.
///
/// # Errors
/// `provider_error` if it does not.
pub(crate) fn bounded(result: &ToolCallResult) -> Result<RawJson, RelayError> {
    let json = RawJson::from_value(result);
    let actual = json.as_str().len();
    if actual <= RESULT_BYTES_MAX {
        return Ok(json);
    }
    Err(RelayError::new(RelayErrorCode::ProviderError, "the tool's result is too large for one message")
        .with("limit", RESULT_BYTES_MAX)
        .with("actual", actual))
}

/// An answer that is a text, of which `seen` bytes were written in all.
pub(crate) fn text(bytes: &[u8], seen: u64, is_error: bool) -> ToolCallResult {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(TEXT_BYTES_MAX)]);
    // A character may be cut in two; what is no text may grow.
    let mut text = text[..text.floor_char_boundary(TEXT_BYTES_MAX)].to_owned();
    if seen > text.len() as u64 && bytes.len() > TEXT_BYTES_MAX {
        text.push_str(&format!("\n[cut: {seen} bytes in all]"));
    }
    ToolCallResult { content: ToolContent::Text(text), structured: None, is_error }
}

/// What a program wrote, if it is an answer as JSON.
pub(crate) fn json(bytes: &[u8]) -> Option<ToolCallResult> {
    #[derive(Deserialize)]
    struct Said {
        content: ToolContent,
        structured: Option<Value>,
        #[serde(default)]
        is_error: bool,
    }
    let text = std::str::from_utf8(bytes).ok()?;
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let Said { content, structured, is_error } = serde_json::from_str(text).ok()?;
    Some(ToolCallResult { content, structured, is_error })
}
