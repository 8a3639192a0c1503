//! Strict JSON objects: serde also deserialises a struct from an array, by position, which our schemas do not allow.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeOwned, MapAccess, Visitor, value::MapAccessDeserializer},
};

/// A value that must be written as a JSON object.
#[derive(Debug)]
pub struct JsonObject<T>(pub T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for JsonObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields(PhantomData)).map(Self)
    }
}

struct Fields<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Visitor<'de> for Fields<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }
}

/// A field that holds an object.
pub(crate) fn one<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    JsonObject::deserialize(deserializer).map(|object| object.0)
}

/// A field that holds an object or `null`.
pub(crate) fn optional<'de, T: DeserializeOwned, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Ok(Option::<JsonObject<T>>::deserialize(deserializer)?.map(|object| object.0))
}

/// A field that holds at least one object.
pub(crate) fn non_empty<'de, T: DeserializeOwned, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let objects = Vec::<JsonObject<T>>::deserialize(deserializer)?;
    if objects.is_empty() {
        return Err(de::Error::invalid_length(0, &"at least one object"));
    }
    Ok(objects.into_iter().map(|object| object.0).collect())
}

#[cfg(test)]
mod tests {
    use crate::{
        config::{McpServer, Skill},
        processes::StartProcessRequest,
    };

    #[test]
    fn an_array_is_no_object_at_any_depth() {
        assert!(serde_json::from_str::<Skill>(r#"{"sources":[{"type":"git","source":"x"}]}"#).is_ok());
        for bad in [r#"{"sources":[["git","x"]]}"#, r#"{"sources":[]}"#, r#"{"sources":{}}"#] {
            assert!(serde_json::from_str::<Skill>(bad).is_err(), "{bad}");
        }
        for (oauth, good) in [("{}", true), ("false", true), (r#"["id"]"#, false), ("1", false)] {
            let server = format!(r#"{{"type":"remote","url":"x","oauth":{oauth}}}"#);
            assert_eq!(serde_json::from_str::<McpServer>(&server).is_ok(), good, "{server}");
        }
        assert!(serde_json::from_str::<StartProcessRequest>(r#"{"command":"x","terminal":null}"#).is_ok());
        assert!(serde_json::from_str::<StartProcessRequest>(r#"{"command":"x","terminal":[1,2]}"#).is_err());
    }
}
