//! JSON Schema of the relay protocol.

use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::{Binding, Frame, Grant, METHODS, RelayAuditEntry, RelayEvent, computer, file, shell};

/// Generates a JSON Schema (2020-12) of [`Frame`]. All types are under `$defs`; the table of methods with their
/// params and results is under `methods`.
pub fn schemas() -> Map<String, Value> {
    let mut generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
    let frame = generator.subschema_for::<Frame>();
    generator.subschema_for::<RelayEvent>();
    generator.subschema_for::<Grant>();
    generator.subschema_for::<Binding>();
    generator.subschema_for::<RelayAuditEntry>();
    // These types are the `data` of stream frames.
    generator.subschema_for::<file::MatchBatch>();
    generator.subschema_for::<super::tool::ToolProgress>();
    generator.subschema_for::<file::WatchedChange>();
    generator.subschema_for::<shell::CommandStarted>();
    // This type is the content of an artifact.
    generator.subschema_for::<computer::AccessibilityElement>();
    let methods: Map<_, _> = METHODS
        .iter()
        .map(|row| {
            let (params, result) = (row.params.schema(&mut generator), row.result.schema(&mut generator));
            let (requested_by, access) = (row.requested_by.as_str(), row.access.as_str());
            let about = json!({
                "family": row.family, "asked_by": requested_by, "access": access, "params": params, "result": result,
            });
            (row.name.into(), about)
        })
        .collect();
    let mut document = Map::new();
    document.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
    document.extend(frame.as_object().cloned().unwrap_or_default());
    document.insert("methods".into(), methods.into());
    document.insert("$defs".into(), generator.take_definitions(true).into());
    document
}

#[cfg(test)]
mod tests;
