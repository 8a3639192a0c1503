//! What comes of a request, and what comes before that.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeStruct};

use super::{Json, RelayError};

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Answer")]
pub struct Response {
    /// The request.
    pub id: String,
    /// What came of it.
    pub outcome: Result<Json, RelayError>,
}

/// A response as it is written: with one of both.
#[derive(Deserialize, JsonSchema)]
struct Answer {
    /// The request.
    id: String,
    /// What came of it.
    #[serde(default, deserialize_with = "said")]
    #[schemars(with = "Option<Json>")]
    result: Option<Json>,
    /// Why nothing came of it.
    error: Option<RelayError>,
}

/// `null` is a result too.
fn said<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

/// Some peers write every field, and `null` where there is nothing: next to an error that is no result.
impl TryFrom<Answer> for Response {
    type Error = &'static str;

    fn try_from(Answer { id, result, error }: Answer) -> Result<Self, &'static str> {
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

/// By hand, as a result may be large and need not be copied.
impl Serialize for Response {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut answer = serializer.serialize_struct("Response", 2)?;
        answer.serialize_field("id", &self.id)?;
        match &self.outcome {
            Ok(result) => answer.serialize_field("result", result)?,
            Err(error) => answer.serialize_field("error", error)?,
        }
        answer.end()
    }
}

impl JsonSchema for Response {
    fn schema_name() -> Cow<'static, str> {
        "Response".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Answer::json_schema(generator)
    }
}

/// Something on the way to a response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamFrame {
    /// The request.
    pub id: String,
    /// What, such as `stdout`.
    pub event: String,
    /// How many came before it for this request; ours always say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The thing itself.
    pub data: Json,
    /// How bytes are written in `data`, if not as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
}

/// How bytes are written in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Encoding {
    /// As they are, which are UTF-8.
    #[default]
    #[serde(rename = "utf-8", alias = "utf8")]
    Utf8,
    /// In base64, with padding.
    #[serde(rename = "base64")]
    Base64,
}
