//! Parses the envelope of a JSON-RPC message: the fields that decide where it goes, and nothing else.

use serde::{
    Deserialize,
    de::{Deserializer, IgnoredAny},
};
use serde_json::value::RawValue;

/// The longest id that a request may have. Every id in flight is kept in memory.
const ID_BYTES_MAX: usize = 1024;

/// Why some bytes are not one JSON-RPC message.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidEnvelope {
    /// The bytes are not UTF-8.
    #[error("the message is not valid UTF-8 at byte {0}")]
    Utf8(usize),
    /// The bytes are not one JSON object.
    #[error("the message is not one JSON object: {0}")]
    Json(String),
    /// Several messages in one array.
    #[error("batches are not supported: send one message at a time")]
    Batch,
    /// `jsonrpc` is missing or not `"2.0"`.
    #[error("`jsonrpc` must be \"2.0\"")]
    Version,
    /// `id` is neither a string nor a number, or too long.
    #[error("`id` must be a string or a number of at most {ID_BYTES_MAX} bytes")]
    Id,
    /// `method` is not a string.
    #[error("`method` must be a string")]
    Method,
    /// Neither a request, a notification nor a response.
    #[error("a message must have a `method`, or an `id` with either a `result` or an `error`")]
    Kind,
}

/// A JSON-RPC message, known by its kind and id. The id is the text as it was written: `1`, `1.0` and `"1"` differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JsonRpcMessage<'a> {
    /// Expects a response.
    Request {
        /// The id as written.
        id: &'a str,
    },
    /// Expects no response.
    Notification,
    /// Answers a request.
    Response {
        /// The id as written.
        id: &'a str,
    },
}

/// The fields of a message that decide where it goes. All others are skipped, but must be valid JSON.
#[derive(Debug, Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "as_written")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "as_written")]
    method: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "present")]
    result: bool,
    #[serde(default, deserialize_with = "present")]
    error: bool,
}

/// Distinguishes `null` from a missing field.
fn as_written<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// True if the field exists, whatever its value: `null` is a valid result.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

impl<'a> JsonRpcMessage<'a> {
    /// Parses a message from a client, which must be strictly JSON-RPC 2.0.
    pub fn parse_client(bytes: &'a [u8]) -> Result<Self, InvalidEnvelope> {
        let envelope = Envelope::parse(bytes)?;
        if envelope.jsonrpc.is_none_or(|version| version.get() != "\"2.0\"") {
            return Err(InvalidEnvelope::Version);
        }
        envelope.classify()
    }

    /// Parses a line from an agent. Some agents leave out `jsonrpc`, and nothing depends on it.
    pub fn parse_agent(bytes: &'a [u8]) -> Result<Self, InvalidEnvelope> {
        Envelope::parse(bytes)?.classify()
    }
}

impl<'a> Envelope<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, InvalidEnvelope> {
        // serde_json does not check the UTF-8 of strings that it skips, so check the whole text first.
        let text = std::str::from_utf8(bytes).map_err(|error| InvalidEnvelope::Utf8(error.valid_up_to()))?;
        // serde also reads a struct from an array, by position. That would accept some batches as one message.
        match text.trim_ascii_start().as_bytes().first() {
            Some(b'{') => {
                serde_json::from_str(text).map_err(|error| InvalidEnvelope::Json(error.to_string()))
            }
            Some(b'[') => Err(InvalidEnvelope::Batch),
            _ => Err(InvalidEnvelope::Json("it does not start with `{`".into())),
        }
    }

    fn classify(&self) -> Result<JsonRpcMessage<'a>, InvalidEnvelope> {
        if self.method.is_some_and(|method| !method.get().starts_with('"')) {
            return Err(InvalidEnvelope::Method);
        }
        match (self.method, self.id.map(RawValue::get)) {
            (Some(_), Some(id)) if is_valid_id(id) => Ok(JsonRpcMessage::Request { id }),
            (Some(_), None) => Ok(JsonRpcMessage::Notification),
            // JSON-RPC: the error response to a request whose id could not be read has the id `null`.
            (None, Some("null")) if self.error && !self.result => Ok(JsonRpcMessage::Response { id: "null" }),
            (None, Some(id)) if is_valid_id(id) && self.result != self.error => {
                Ok(JsonRpcMessage::Response { id })
            }
            (_, Some(id)) if !is_valid_id(id) => Err(InvalidEnvelope::Id),
            _ => Err(InvalidEnvelope::Kind),
        }
    }
}

fn is_valid_id(id: &str) -> bool {
    id.starts_with(|first: char| matches!(first, '"' | '-' | '0'..='9')) && id.len() <= ID_BYTES_MAX
}

#[cfg(test)]
mod tests;
