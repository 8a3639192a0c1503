//! Finds subschemas with an id of their own.

use jsonschema::Draft;
use serde_json::Value;

use super::bounds::inside;

/// The keyword by which a subschema has an id of its own. References below it are relative to it, but this crate resolves all of them
/// from the root, so such a schema is refused.
pub(super) fn within(schema: &Value) -> Option<&'static str> {
    // Any subschema can declare another dialect, with another keyword for ids.
    let mut keywords = vec![Draft::default().id_keyword()];
    dialects(schema, &mut keywords);
    inside(schema).find_map(|value| named(value, &keywords))
}

fn named(value: &Value, keywords: &[&'static str]) -> Option<&'static str> {
    let name = keywords.iter().find(|keyword| value.get(**keyword).is_some_and(Value::is_string));
    name.copied().or_else(|| inside(value).find_map(|value| named(value, keywords)))
}

fn dialects(value: &Value, keywords: &mut Vec<&'static str>) {
    if let Some(dialect) = value.get("$schema").and_then(Value::as_str) {
        let keyword = Draft::from_schema_uri(dialect).id_keyword();
        if !keywords.contains(&keyword) {
            keywords.push(keyword);
        }
    }
    inside(value).for_each(|value| dialects(value, keywords));
}
