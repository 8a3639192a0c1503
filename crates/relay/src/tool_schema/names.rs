//! Parts of a schema that have a name of their own.

use jsonschema::Draft;
use serde_json::Value;

use super::bounds::inside;

/// The keyword by which anything but the whole has a name of its own. References below it would be followed from there, and
/// not from the root as they are here; so would all of them, if it were the name of the whole.
pub(super) fn within(schema: &Value) -> Option<&'static str> {
    // Which keyword it is can be said anew anywhere.
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
