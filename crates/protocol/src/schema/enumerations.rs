//! Enumerations as `enum`, which is the only form that code generators understand.

use serde_json::{Map, Value};

/// Rewrites every `oneOf` of constants as one `enum`. The description of each value moves to that of the enumeration.
pub(super) fn collapse_constants(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.values_mut().for_each(collapse_constants);
            collapse_union(members);
        }
        Value::Array(items) => items.iter_mut().for_each(collapse_constants),
        _ => {}
    }
}

fn collapse_union(schema: &mut Map<String, Value>) {
    let Some(Value::Array(variants)) = schema.get_mut("oneOf") else { return };
    if !variants.iter().any(is_text_constant) {
        return;
    }
    let (constants, mut others): (Vec<_>, Vec<_>) = variants.drain(..).partition(is_text_constant);
    let values: Value = constants.iter().map(|constant| constant["const"].clone()).collect();
    let enumeration = Map::from_iter([("type".to_owned(), "string".into()), ("enum".to_owned(), values)]);
    if others.is_empty() {
        schema.remove("oneOf");
        let description = describe_values(schema.get("description"), &constants);
        schema.insert("description".into(), description.into());
        schema.extend(enumeration);
    } else {
        others.push(enumeration.into());
        schema.insert("oneOf".into(), others.into());
    }
}

/// A constant that stands alone; the constant that tags an object is a property of it.
fn is_text_constant(schema: &Value) -> bool {
    schema.get("const").is_some_and(Value::is_string)
}

/// The description of an enumeration, followed by a list of its values.
fn describe_values(description: Option<&Value>, constants: &[Value]) -> String {
    let mut text = description.and_then(Value::as_str).unwrap_or_default().to_owned();
    text.push('\n');
    for constant in constants {
        let value = constant["const"].as_str().unwrap_or_default();
        let meaning = constant["description"].as_str().unwrap_or_default();
        text.push_str(&format!("\n- `{value}`: {meaning}"));
    }
    text
}
