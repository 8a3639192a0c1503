//! JSON Schemas of the wire types, and their names in the OpenAPI documents.

mod enumerations;
mod variants;
mod wire_type_schema;
mod written;

use std::collections::BTreeSet;

use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value};

pub(crate) use self::wire_type_schema::{WireTypeSchema, wire_types};

use crate::{
    acp, agents, audit, config, event, fs, hub, inbox, info, lending, message, observation, people, presence,
    problem, processes, relay, sessions, wait, worker_actions,
};

/// Where an OpenAPI document keeps its schemas.
const SCHEMA_PATH: &str = "#/components/schemas/";

/// The wire types of each module that has some.
const WIRE_TYPES: &[&[WireTypeSchema]] = &[
    acp::WIRE_TYPES,
    agents::WIRE_TYPES,
    audit::WIRE_TYPES,
    config::WIRE_TYPES,
    event::WIRE_TYPES,
    fs::WIRE_TYPES,
    hub::WIRE_TYPES,
    inbox::WIRE_TYPES,
    info::WIRE_TYPES,
    lending::device::WIRE_TYPES,
    lending::environment::WIRE_TYPES,
    lending::grant::WIRE_TYPES,
    lending::pairing::WIRE_TYPES,
    lending::status::WIRE_TYPES,
    message::WIRE_TYPES,
    observation::WIRE_TYPES,
    people::WIRE_TYPES,
    presence::WIRE_TYPES,
    problem::WIRE_TYPES,
    processes::WIRE_TYPES,
    relay::grant::WIRE_TYPES,
    sessions::WIRE_TYPES,
    wait::WIRE_TYPES,
    worker_actions::WIRE_TYPES,
];

/// Returns the JSON Schemas (2020-12) of the named wire types and of every type they contain, by name.
///
/// A type that is only sent is described as the server writes it: a field that is always written is required. A type that a
/// server receives is described as it is read: a field that may be left out is not required. The second description also
/// holds where such a type is sent.
pub fn schemas(names: &BTreeSet<String>) -> Map<String, Value> {
    let settings =
        || SchemaSettings::draft2020_12().with(|s| s.definitions_path = "/components/schemas".into());
    let mut read = SchemaGenerator::new(settings());
    wire_types()
        .filter(|wire_type| wire_type.is_received)
        .for_each(|wire_type| wire_type.describe(&mut read));
    let mut read = read.take_definitions(true);
    let mut written = SchemaGenerator::new(settings().for_serialize().with_transform(written::AsWritten));
    for wire_type in wire_types().filter(|wire_type| names.contains(&*wire_type.name())) {
        wire_type.describe(&mut written);
    }
    let mut schemas = written.take_definitions(true);
    for (name, schema) in &mut schemas {
        if let Some(read) = read.remove(name) {
            *schema = read;
        }
    }
    for schema in schemas.values_mut() {
        enumerations::collapse_constants(schema);
    }
    variants::name_variants(&mut schemas);
    schemas
}

fn wire_types() -> impl Iterator<Item = &'static WireTypeSchema> {
    WIRE_TYPES.iter().copied().flatten()
}

#[cfg(test)]
mod tests;
