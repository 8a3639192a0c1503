//! Lenient parsing of agents' JSON: agents change their messages from version to version, and one field or item that differs
//! must not lose the others.

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::{Map, Value};

/// Parses an object all of whose fields have defaults. A field of an unexpected type counts as missing; a value that is no
/// object has only defaults.
pub(crate) fn object<T: Default + DeserializeOwned>(value: &Value) -> T {
    // serde would also accept an array, whose items it assigns to the fields in order.
    let Some(fields) = value.as_object() else { return T::default() };
    if let Ok(parsed) = T::deserialize(value) {
        return parsed;
    }
    let is_understood = |name: &str, field: &Value| {
        T::deserialize(&Value::Object(Map::from_iter([(name.to_owned(), field.clone())]))).is_ok()
    };
    let understood = fields.iter().filter(|(name, field)| is_understood(name, field));
    let understood = understood.map(|(name, field)| (name.clone(), field.clone())).collect();
    T::deserialize(&Value::Object(understood)).unwrap_or_default()
}

/// For `deserialize_with`: an object in a field, parsed like [`object`].
pub(crate) fn field<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + DeserializeOwned,
{
    Value::deserialize(deserializer).map(|value| object(&value))
}

/// For `deserialize_with`: a text. An empty text counts as missing, as does a value of another type.
pub(crate) fn text<'de, D>(deserializer: D) -> Result<Option<String>, D::Error>
where
    D: Deserializer<'de>,
{
    match Value::deserialize(deserializer)? {
        Value::String(text) if !text.is_empty() => Ok(Some(text)),
        _ => Ok(None),
    }
}

/// For `deserialize_with`: a list without those of its items that do not parse. A value that is no list is an empty one.
pub(crate) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let Value::Array(items) = Value::deserialize(deserializer)? else { return Ok(Vec::new()) };
    Ok(items.into_iter().filter_map(|item| serde_json::from_value(item).ok()).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Outer {
        name: Option<String>,
        count: Option<u64>,
        #[serde(deserialize_with = "field")]
        inner: Inner,
        #[serde(deserialize_with = "list")]
        items: Vec<u64>,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Inner {
        title: Option<String>,
        size: Option<u64>,
    }

    fn check(value: &Value, expected: &Outer) {
        assert_eq!(object::<Outer>(value), *expected, "{value}");
    }

    #[test]
    fn one_bad_field_or_item_does_not_lose_the_others() {
        let name = Some("x".to_owned());
        let inner = Inner { title: name.clone(), size: None };
        check(
            &json!({ "name": "x", "count": "many", "new": [1], "items": [1, "two", null, 3],
                "inner": { "title": "x", "size": {} } }),
            &Outer { name: name.clone(), inner, items: vec![1, 3], ..Outer::default() },
        );
        check(
            &json!({ "name": "x", "count": null, "inner": null, "items": null }),
            &Outer { name, ..Outer::default() },
        );
        for other in [json!(null), json!([1, 2, 3, 4, 5]), json!("x")] {
            check(&other, &Outer::default());
        }
    }
}
