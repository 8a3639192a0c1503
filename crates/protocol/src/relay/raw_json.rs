//! Unparsed JSON values.

use std::borrow::Cow;

use bytes::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use crate::json_object::JsonObject;

/// An unparsed JSON value with optional attached bytes. A proxy forwards both without parsing them.
///
/// The bytes are not part of the JSON text. They follow it in a binary message, if both sides support that.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawJson {
    value: Box<RawValue>,
    #[serde(skip)]
    bytes: Bytes,
}

impl RawJson {
    /// Serialises a value.
    pub fn from_value(value: &impl Serialize) -> Self {
        // Serialising a wire type cannot fail.
        Self::from(serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }

    /// Wraps JSON text after checking its syntax, without copying it.
    ///
    /// # Errors
    /// Fails if the text is not valid JSON.
    pub fn from_text(text: String) -> serde_json::Result<Self> {
        RawValue::from_string(text).map(Self::from)
    }

    /// An empty object.
    pub fn empty() -> Self {
        Self::from_value(&serde_json::Map::new())
    }

    /// Attaches bytes.
    #[must_use]
    pub fn with_bytes(self, bytes: Bytes) -> Self {
        Self { bytes, ..self }
    }

    /// The attached bytes.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Total length in bytes of the JSON text and the attached bytes.
    pub fn size(&self) -> usize {
        self.as_str().len() + self.bytes.len()
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        self.value.get()
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        self.as_str() == "null"
    }

    /// Parses the value.
    ///
    /// # Errors
    /// Fails if the value does not have the type `T`.
    pub fn read<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.as_str())
    }

    /// Parses the value, which must be a JSON object: serde would also accept an array for a struct.
    ///
    /// # Errors
    /// Fails if the value is not an object or does not have the type `T`.
    pub fn object<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        self.read().map(|JsonObject(value)| value)
    }
}

impl From<Box<RawValue>> for RawJson {
    fn from(value: Box<RawValue>) -> Self {
        Self { value, bytes: Bytes::new() }
    }
}

/// Compares values rather than spellings. A value that is nested too deep to be parsed equals only the same text.
impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        let means_the_same = || Some(self.read::<Value>().ok()? == other.read::<Value>().ok()?);
        self.bytes == other.bytes && (self.as_str() == other.as_str() || means_the_same().unwrap_or(false))
    }
}

impl JsonSchema for RawJson {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RawJson".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        true.into()
    }
}
