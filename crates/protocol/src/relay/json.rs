//! A JSON value as it was said, which is read by whom it is for.

use std::borrow::Cow;

use bytes::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use crate::json_object::JsonObject;

/// A JSON value as it was said, and the bytes that came with it. Whoever only passes it on reads neither.
///
/// The bytes are no part of the value: they travel behind it in a binary message, where both sides know how.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json {
    value: Box<RawValue>,
    #[serde(skip)]
    bytes: Bytes,
}

impl Json {
    /// A value of ours.
    pub fn of(value: &impl Serialize) -> Self {
        // A wire type always can be serialised.
        Self::from(serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }

    /// A value that is written already: it is looked through, not copied.
    ///
    /// # Errors
    /// If it is no JSON.
    pub fn written(text: String) -> serde_json::Result<Self> {
        RawValue::from_string(text).map(Self::from)
    }

    /// `{}`.
    pub fn empty() -> Self {
        Self::of(&serde_json::Map::new())
    }

    /// The same value, with these bytes.
    #[must_use]
    pub fn with_bytes(self, bytes: Bytes) -> Self {
        Self { bytes, ..self }
    }

    /// The bytes that came with it.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// How long all of it is.
    pub fn size(&self) -> usize {
        self.as_str().len() + self.bytes.len()
    }

    /// As it was said.
    pub fn as_str(&self) -> &str {
        self.value.get()
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        self.as_str() == "null"
    }

    /// What it means.
    ///
    /// # Errors
    /// If it is something else.
    pub fn read<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.as_str())
    }

    /// What it means, if it is an object.
    ///
    /// # Errors
    /// If it is something else.
    pub fn object<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        self.read().map(|JsonObject(value)| value)
    }
}

impl From<Box<RawValue>> for Json {
    fn from(value: Box<RawValue>) -> Self {
        Self { value, bytes: Bytes::new() }
    }
}

/// Two are the same if they mean the same, however they are written. What is nested too deep to be read is the same as
/// nothing else.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        let means_the_same = || Some(self.read::<Value>().ok()? == other.read::<Value>().ok()?);
        self.bytes == other.bytes && (self.as_str() == other.as_str() || means_the_same().unwrap_or(false))
    }
}

impl JsonSchema for Json {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        true.into()
    }
}
