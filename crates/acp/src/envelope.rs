//! The part of a JSON-RPC message that is looked at: who it is for, and nothing else.

use serde::{
    Deserialize,
    de::{Deserializer, IgnoredAny},
};
use serde_json::value::RawValue;

/// The longest id that a request may have; every id in flight is kept in memory.
const ID_BYTES_MAX: usize = 1024;

/// Why some bytes are not one JSON-RPC message.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidEnvelope {
    /// The bytes are not UTF-8.
    #[error("the message is not UTF-8: byte {0} breaks it")]
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
    /// `id` is neither a text nor a number, or too long.
    #[error("`id` must be a string or a number of at most {ID_BYTES_MAX} bytes")]
    Id,
    /// `method` is not a text.
    #[error("`method` must be a string")]
    Method,
    /// Neither a request nor an answer.
    #[error("a message has a `method`, or an `id` with either a `result` or an `error`")]
    Kind,
}

/// What kind of message it is, with the text of its id exactly as it was written: `1`, `1.0` and `"1"` differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Message<'a> {
    /// Wants an answer.
    Request {
        /// The id as written.
        id: &'a str,
    },
    /// Wants none.
    Notification,
    /// Is an answer.
    Response {
        /// The id as written.
        id: &'a str,
    },
}

/// The fields of a message that decide where it goes; everything else is skipped, but must be JSON.
#[derive(Debug, Deserialize)]
pub struct Envelope<'a> {
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

/// Keeps a `null` apart from a field that is not there.
fn as_written<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// True if the field is there, whatever it holds: `null` is a result too.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

impl<'a> Envelope<'a> {
    /// Reads a message that a client sent; it must be JSON-RPC 2.0 to the letter.
    pub fn of_client(bytes: &'a [u8]) -> Result<Message<'a>, InvalidEnvelope> {
        let envelope = Self::parse(bytes)?;
        if envelope.jsonrpc.is_none_or(|version| version.get() != "\"2.0\"") {
            return Err(InvalidEnvelope::Version);
        }
        envelope.message()
    }

    /// Reads a line that an agent wrote. Some leave out `jsonrpc`, which nothing depends on.
    pub fn of_agent(bytes: &'a [u8]) -> Result<Message<'a>, InvalidEnvelope> {
        Self::parse(bytes)?.message()
    }

    fn parse(bytes: &'a [u8]) -> Result<Self, InvalidEnvelope> {
        // serde_json does not look inside strings that it skips, so the text is checked as a whole first.
        let text = std::str::from_utf8(bytes).map_err(|error| InvalidEnvelope::Utf8(error.valid_up_to()))?;
        // A struct may also be read from an array, by position: that would take a batch for a message.
        match text.trim_ascii_start().as_bytes().first() {
            Some(b'{') => {
                serde_json::from_str(text).map_err(|error| InvalidEnvelope::Json(error.to_string()))
            }
            Some(b'[') => Err(InvalidEnvelope::Batch),
            _ => Err(InvalidEnvelope::Json("it does not start with `{`".into())),
        }
    }

    fn message(&self) -> Result<Message<'a>, InvalidEnvelope> {
        if self.method.is_some_and(|method| !method.get().starts_with('"')) {
            return Err(InvalidEnvelope::Method);
        }
        match (self.method, self.id.map(RawValue::get)) {
            (Some(_), Some(id)) if valid_id(id) => Ok(Message::Request { id }),
            (Some(_), None) => Ok(Message::Notification),
            // Who could not read a request cannot name it: such an error has the id `null`.
            (None, Some("null")) if self.error && !self.result => Ok(Message::Response { id: "null" }),
            (None, Some(id)) if valid_id(id) && self.result != self.error => Ok(Message::Response { id }),
            (_, Some(id)) if !valid_id(id) => Err(InvalidEnvelope::Id),
            _ => Err(InvalidEnvelope::Kind),
        }
    }
}

fn valid_id(id: &str) -> bool {
    id.starts_with(|first: char| matches!(first, '"' | '-' | '0'..='9')) && id.len() <= ID_BYTES_MAX
}

#[cfg(test)]
mod tests;
