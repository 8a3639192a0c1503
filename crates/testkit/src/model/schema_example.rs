//! Generates a value that fits a JSON schema, for requests for structured output.

use serde_json::{Map, Value, json};

/// Preferred enum values. Codex can have a model review its commands, and continues if the review has these.
const PREFERRED: [&str; 3] = ["allow", "low", "high"];

/// Maximum nesting of a generated value. Deeper schemas yield null there.
const DEPTH_MAX: u8 = 16;

/// A value that fits `schema`. Booleans are true and enums take a permissive value, so that reviews approve.
pub(super) fn example_value(schema: &Value) -> Value {
    example_within_depth(schema, DEPTH_MAX)
}

fn example_within_depth(schema: &Value, depth: u8) -> Value {
    if depth == 0 {
        return Value::Null;
    }
    if let Some(only) = schema.get("const") {
        return only.clone();
    }
    if let Some(allowed) = schema["enum"].as_array().filter(|allowed| !allowed.is_empty()) {
        let preferred = PREFERRED.iter().find_map(|word| allowed.iter().find(|value| *value == word));
        return preferred.unwrap_or(&allowed[0]).clone();
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) = schema[key].get(0) {
            return example_within_depth(first, depth - 1);
        }
    }
    let kind = schema["type"].as_str().or(schema["type"][0].as_str()).unwrap_or("object");
    // The Gemini API spells types in capitals.
    match kind.to_ascii_lowercase().as_str() {
        "object" => example_object(schema, depth),
        "array" => json!([]),
        "boolean" => json!(true),
        "integer" | "number" => json!(1),
        "null" => Value::Null,
        _ => json!("scripted"),
    }
}

fn example_object(schema: &Value, depth: u8) -> Value {
    let Some(properties) = schema["properties"].as_object() else {
        return json!({ "title": "scripted title" });
    };
    let value = |key: &str, schema| {
        if key == "title" { json!("scripted title") } else { example_within_depth(schema, depth - 1) }
    };
    Value::Object(
        properties.iter().map(|(key, schema)| (key.clone(), value(key, schema))).collect::<Map<_, _>>(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: &Value, expected: &Value) {
        assert_eq!(example_value(schema), *expected);
    }

    #[test]
    fn a_value_fits_its_schema() {
        check(&json!({}), &json!({ "title": "scripted title" }));
        let review = json!({ "type": "object", "properties": {
            "outcome": { "enum": ["deny", "allow"] }, "risk": { "type": "string", "enum": ["low"] },
            "why": { "type": ["string", "null"] }, "score": { "type": "NUMBER" }, "list": { "type": "array" } } });
        check(
            &review,
            &json!({ "outcome": "allow", "risk": "low", "why": "scripted", "score": 1, "list": [] }),
        );
        check(&json!({ "anyOf": [{ "const": 7 }] }), &json!(7));
    }

    #[test]
    fn a_deep_schema_comes_to_an_end() {
        let deep =
            (0..40).fold(json!({ "type": "string" }), |inner, _| json!({ "properties": { "a": inner } }));
        assert!(example_value(&deep).is_object());
    }
}
