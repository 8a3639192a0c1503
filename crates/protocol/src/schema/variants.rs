//! Union variants as schemas of their own: code generators invent a name for an inline variant, or reject it.

use serde_json::{Map, Value, json};

/// Moves the inline object variants of every union to schemas that are named after the union and the variant, such as
/// `McpServerLocal`. A union whose variants all have the same constant property gets a `discriminator`.
pub(super) fn name_variants(schemas: &mut Map<String, Value>) {
    let names: Vec<_> = schemas.keys().cloned().collect();
    for name in names {
        let Some(Value::Object(union)) = schemas.get_mut(&name) else { continue };
        let variants = split_union(&name, union);
        schemas.extend(variants.into_iter().map(|variant| (variant.name, variant.schema.into())));
    }
}

struct Variant {
    name: String,
    schema: Map<String, Value>,
}

fn split_union(union_name: &str, union: &mut Map<String, Value>) -> Vec<Variant> {
    let Some(keyword) = ["oneOf", "anyOf"].into_iter().find(|keyword| union.contains_key(*keyword)) else {
        return Vec::new();
    };
    let Some(Value::Array(inline)) = union.remove(keyword) else { return Vec::new() };
    // A struct with a flattened union: its own fields belong to every variant.
    let shared_properties = take_object(union, "properties");
    let shared_required = take_array(union, "required");
    if !shared_properties.is_empty() {
        union.remove("type");
    }
    let tag = common_tag(&inline);
    let mut named = Vec::new();
    let mut mapping = Map::new();
    let mut references = Vec::new();
    for variant in inline {
        let Value::Object(mut schema) = variant else {
            references.push(variant);
            continue;
        };
        if !is_object(&schema) {
            references.push(schema.into());
            continue;
        }
        let label = variant_label(&schema);
        let name = format!("{union_name}{}", capitalize(&label));
        add_fields(&mut schema, &shared_properties, &shared_required);
        let reference = format!("{}{name}", super::SCHEMA_PATH);
        mapping.insert(label, reference.clone().into());
        references.push(json!({ "$ref": reference }));
        named.push(Variant { name, schema: extend_reference(schema) });
    }
    if let Some(tag) = tag.filter(|_| mapping.len() == references.len()) {
        union.insert("discriminator".into(), json!({ "propertyName": tag, "mapping": mapping }));
    }
    union.insert(keyword.into(), references.into());
    named
}

fn is_object(schema: &Map<String, Value>) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object")
}

/// The property that is a constant in every variant.
fn common_tag(variants: &[Value]) -> Option<String> {
    let (name, _) = constants(variants.first()?.as_object()?).next()?;
    let is_everywhere = variants
        .iter()
        .all(|variant| variant["properties"][name.as_str()].get("const").is_some_and(Value::is_string));
    is_everywhere.then(|| name.clone())
}

fn constants(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &str)> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.filter_map(|(name, property)| Some((name, property.get("const")?.as_str()?)))
}

/// The name of a variant: the value of its tag, or the one property of an externally tagged variant. A variant with
/// neither accepts any object, as a newer peer may send.
fn variant_label(schema: &Map<String, Value>) -> String {
    if let Some((_, value)) = constants(schema).next() {
        return value.to_owned();
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    let name = properties.filter(|properties| properties.len() == 1).and_then(|one| one.keys().next());
    name.map_or_else(|| "unknown".to_owned(), Clone::clone)
}

fn add_fields(schema: &mut Map<String, Value>, properties: &Map<String, Value>, required: &[Value]) {
    if properties.is_empty() {
        return;
    }
    let mut all = properties.clone();
    all.extend(take_object(schema, "properties"));
    schema.insert("properties".into(), all.into());
    let mut names = required.to_vec();
    names.extend(take_array(schema, "required"));
    schema.insert("required".into(), names.into());
}

/// JSON Schema allows members beside a `$ref`; generators ignore them, and understand `allOf`.
fn extend_reference(mut schema: Map<String, Value>) -> Map<String, Value> {
    let Some(reference) = schema.remove("$ref") else { return schema };
    let description = schema.remove("description");
    let mut extended = Map::from_iter([("allOf".to_owned(), json!([{ "$ref": reference }, schema]))]);
    extended.extend(description.map(|text| ("description".to_owned(), text)));
    extended
}

fn capitalize(label: &str) -> String {
    let words = label.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .flat_map(|word| {
            let mut letters = word.chars();
            letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters)
        })
        .collect()
}

fn take_object(schema: &mut Map<String, Value>, key: &str) -> Map<String, Value> {
    match schema.remove(key) {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    }
}

fn take_array(schema: &mut Map<String, Value>, key: &str) -> Vec<Value> {
    match schema.remove(key) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}
