//! The schemas of the built-in tools, with the keywords that every model provider accepts.

use schemars::JsonSchema;
use serde_json::{Map, Value};

/// The schema of a type.
pub(crate) fn of<T: JsonSchema>() -> Map<String, Value> {
    let mut schema = schemars::schema_for!(T).as_object().cloned().unwrap_or_default();
    // A model gets the description of the tool, not that of the Rust type.
    for field in ["$schema", "title", "description"] {
        schema.remove(field);
    }
    for property in properties(&mut schema) {
        simplify(property);
    }
    schema
}

/// Removes keywords that some providers reject or warn about: `null` as a type or default, which only means that a property is not
/// required, and the formats of Rust's integers.
fn simplify(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            fields.insert("type".into(), only);
        }
    }
    if fields.get("default").is_some_and(Value::is_null) {
        fields.remove("default");
    }
    if fields.get("format").and_then(Value::as_str).is_some_and(is_rust_integer) {
        fields.remove("format");
    }
    properties(fields).for_each(simplify);
    for of in ["items", "additionalProperties"] {
        if let Some(schema) = fields.get_mut(of) {
            simplify(schema);
        }
    }
}

fn properties(schema: &mut Map<String, Value>) -> impl Iterator<Item = &mut Value> {
    schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut)
}

fn is_rust_integer(format: &str) -> bool {
    format
        .trim_start_matches('u')
        .strip_prefix("int")
        .is_some_and(|bits| bits.bytes().all(|digit| digit.is_ascii_digit()))
}
