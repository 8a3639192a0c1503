//! The public API of the last release: clients that were generated from it must keep working.
//!
//! `docs/openapi-released.json` records the names that such a client contains. A test compares it with the current API
//! documents; `cargo xtask release-record` replaces it when a release is made.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::sh;

const RECORD: &str = "docs/openapi-released.json";
const DOCUMENTS: [&str; 2] = ["docs/openapi.json", "docs/openapi-hub.json"];
const SCHEMAS: &str = "#/components/schemas/";

/// Writes the record of the current API.
pub(crate) fn write() -> anyhow::Result<()> {
    let record = serde_json::to_string_pretty(&current()?)? + "\n";
    std::fs::write(sh::root().join(RECORD), record).with_context(|| format!("could not write {RECORD}"))?;
    println!("wrote {RECORD}");
    Ok(())
}

/// The names of each API document, by the file of the document.
type Record = BTreeMap<String, ApiNames>;

fn current() -> anyhow::Result<Record> {
    let names = DOCUMENTS.map(|file| Ok((file.to_owned(), ApiNames::from_document(&read(file)?))));
    names.into_iter().collect()
}

fn read<T: DeserializeOwned>(file: &str) -> anyhow::Result<T> {
    let text =
        std::fs::read_to_string(sh::root().join(file)).with_context(|| format!("could not read {file}"))?;
    serde_json::from_str(&text).with_context(|| format!("{file} is malformed"))
}

/// Everything in an API document that a client refers to by name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct ApiNames {
    /// Method and path, by operation id.
    operations: BTreeMap<String, String>,
    schemas: BTreeMap<String, SchemaNames>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct SchemaNames {
    /// Whether a client sends it: then a new required property breaks clients that do not know it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    in_requests: bool,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    properties: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    required: BTreeSet<String>,
    #[serde(rename = "enum", default, skip_serializing_if = "BTreeSet::is_empty")]
    values: BTreeSet<String>,
}

impl ApiNames {
    fn from_document(document: &Value) -> Self {
        let mut names = Self::default();
        let mut requested = BTreeSet::new();
        for (path, methods) in members(&document["paths"]) {
            for (method, operation) in members(methods) {
                let id = operation["operationId"].as_str().unwrap_or_default();
                names.operations.insert(id.to_owned(), format!("{} {path}", method.to_uppercase()));
                add_references(&operation["requestBody"], document, &mut requested);
            }
        }
        for (name, schema) in members(&document["components"]["schemas"]) {
            let schema = SchemaNames {
                in_requests: requested.contains(name),
                properties: members(&schema["properties"]).map(|(name, _)| name.clone()).collect(),
                required: strings(&schema["required"]),
                values: strings(&schema["enum"]),
            };
            names.schemas.insert(name.clone(), schema);
        }
        names
    }

    /// Lists what a client of this API can no longer rely on in a newer one. Additions break nothing.
    #[cfg(test)]
    fn broken_by(&self, newer: &Self) -> Vec<String> {
        let mut broken = Vec::new();
        for (id, route) in &self.operations {
            match newer.operations.get(id) {
                None => broken.push(format!("the operation `{id}` ({route}) is gone")),
                Some(now) if now != route => {
                    broken.push(format!("the operation `{id}` moved from {route} to {now}"))
                }
                Some(_) => {}
            }
        }
        for (name, schema) in &self.schemas {
            match newer.schemas.get(name) {
                None => broken.push(format!("the schema `{name}` is gone")),
                Some(now) => broken.extend(schema.broken_by(name, now)),
            }
        }
        broken
    }
}

#[cfg(test)]
impl SchemaNames {
    fn broken_by<'a>(&'a self, name: &'a str, newer: &'a Self) -> impl Iterator<Item = String> + 'a {
        let gone = |what: &'static str, old: &'a BTreeSet<String>, new: &'a BTreeSet<String>| {
            old.difference(new).map(move |lost| format!("`{name}` lost the {what} `{lost}`"))
        };
        let properties = gone("property", &self.properties, &newer.properties);
        let values = gone("value", &self.values, &newer.values);
        // A client must send what a request requires, and reads what a response always has.
        let newly_required = newer.required.difference(&self.required);
        let newly_required = newly_required
            .filter(move |_| newer.in_requests)
            .map(move |property| format!("requests with `{name}` now require `{property}`"));
        let no_longer_there = self
            .required
            .difference(&newer.required)
            .filter(move |property| !newer.in_requests && newer.properties.contains(*property))
            .map(move |property| format!("`{name}` no longer always has `{property}`"));
        properties.chain(values).chain(newly_required).chain(no_longer_there)
    }
}

fn members(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flatten()
}

fn strings(array: &Value) -> BTreeSet<String> {
    array.as_array().into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect()
}

/// Collects the schemas that a part of a document refers to, with those that they refer to.
fn add_references(part: &Value, document: &Value, found: &mut BTreeSet<String>) {
    if let Some(name) = part["$ref"].as_str().and_then(|reference| reference.strip_prefix(SCHEMAS))
        && found.insert(name.to_owned())
    {
        add_references(&document["components"]["schemas"][name], document, found);
    }
    match part {
        Value::Object(object) => object.values().for_each(|value| add_references(value, document, found)),
        Value::Array(items) => items.iter().for_each(|item| add_references(item, document, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn clients_of_the_last_release_still_work() {
        let released: Record = read(RECORD).unwrap();
        let current = current().unwrap();
        let broken: Vec<_> = released
            .iter()
            .flat_map(|(file, names)| {
                names.broken_by(&current[file]).into_iter().map(move |sentence| format!("{file}: {sentence}"))
            })
            .collect();
        assert!(
            broken.is_empty(),
            "clients generated from the last release would break:\n  {}\nKeep the old name (add the new one beside it, and \
             accept the old spelling with a serde alias). If the break is meant, it needs a new major version: write the \
             release note, then run `cargo xtask release-record` and commit {RECORD}.",
            broken.join("\n  ")
        );
    }

    fn names(session: &Value) -> ApiNames {
        ApiNames::from_document(&json!({
            "paths": { "/v1/sessions": { "get": { "operationId": "sessions_list" }, "post": {
                "operationId": "sessions_create",
                "requestBody": { "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Create" } } } },
            } } },
            "components": { "schemas": {
                "Session": session,
                "Create": { "properties": { "agent": {} }, "required": ["agent"] },
                "State": { "type": "string", "enum": ["idle", "running"] },
            } },
        }))
    }

    #[test]
    fn additions_pass_and_removals_fail() {
        let released =
            names(&json!({ "properties": { "id": {}, "title": {} }, "required": ["id", "title"] }));
        let more = names(
            &json!({ "properties": { "id": {}, "title": {}, "new": {} }, "required": ["id", "title", "new"] }),
        );
        assert_eq!(released.broken_by(&more), Vec::<String>::new());
        let renamed = names(&json!({ "properties": { "id": {}, "name": {} }, "required": ["id"] }));
        assert_eq!(released.broken_by(&renamed), ["`Session` lost the property `title`"]);
        let optional = names(&json!({ "properties": { "id": {}, "title": {} }, "required": ["id"] }));
        assert_eq!(released.broken_by(&optional), ["`Session` no longer always has `title`"]);
        let mut stricter = released.clone();
        stricter.schemas.get_mut("Create").unwrap().required.insert("model".into());
        stricter.schemas.get_mut("State").unwrap().values.remove("idle");
        stricter.operations.insert("sessions_list".into(), "GET /v2/sessions".into());
        assert_eq!(
            released.broken_by(&stricter),
            [
                "the operation `sessions_list` moved from GET /v1/sessions to GET /v2/sessions",
                "requests with `Create` now require `model`",
                "`State` lost the value `idle`",
            ]
        );
    }
}
