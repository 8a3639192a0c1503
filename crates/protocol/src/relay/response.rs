//! Responses, and the stream frames that precede them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeStruct};

use super::{RawJson, RelayError};

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "WireResponse")]
pub struct Response {
    /// Id of the request.
    pub id: String,
    /// The result or the error.
    pub outcome: Result<RawJson, RelayError>,
}

/// A response on the wire: either `result` or `error` is present.
#[derive(Deserialize, JsonSchema)]
struct WireResponse {
    /// Id of the request.
    id: String,
    /// Result of a successful request.
    #[serde(default, deserialize_with = "present")]
    #[schemars(with = "Option<RawJson>")]
    result: Option<RawJson>,
    /// Error of a failed request.
    error: Option<RelayError>,
}

/// Distinguishes a `null` result from an absent one: both would be `None` by default.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<RawJson>, D::Error> {
    RawJson::deserialize(deserializer).map(Some)
}

/// Some peers write all fields, with `null` for absent ones: a `null` result next to an error counts as absent.
impl TryFrom<WireResponse> for Response {
    type Error = &'static str;

    fn try_from(WireResponse { id, result, error }: WireResponse) -> Result<Self, &'static str> {
        let outcome = match (result, error) {
            (Some(result), Some(_)) if !result.is_null() => {
                return Err("a response has either a `result` or an `error`");
            }
            (_, Some(error)) => Err(error),
            (Some(result), None) => Ok(result),
            (None, None) => return Err("a response has a `result` or an `error`"),
        };
        Ok(Self { id, outcome })
    }
}

/// Written by hand so that a large result is not copied into a `WireResponse`.
impl Serialize for Response {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut response = serializer.serialize_struct("Response", 2)?;
        response.serialize_field("id", &self.id)?;
        match &self.outcome {
            Ok(result) => response.serialize_field("result", result)?,
            Err(error) => response.serialize_field("error", error)?,
        }
        response.end()
    }
}

impl JsonSchema for Response {
    fn schema_name() -> Cow<'static, str> {
        "Response".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        WireResponse::json_schema(generator)
    }
}

/// Partial output or progress of a request, sent before its response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamFrame {
    /// Id of the request.
    pub id: String,
    /// Kind of output, such as `stdout`.
    pub event: String,
    /// Number of earlier stream frames of the request. Tombolo always sends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The content.
    pub data: RawJson,
    /// Encoding of `data` if it holds bytes; UTF-8 text by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
}

/// Encoding of bytes in a JSON string.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Encoding {
    /// Plain UTF-8 text.
    #[default]
    #[serde(rename = "utf-8", alias = "utf8")]
    Utf8,
    /// Base64 with padding.
    #[serde(rename = "base64")]
    Base64,
}
