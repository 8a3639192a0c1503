//! What an environment is made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ClientId, Family, Root, family};

/// What an environment is made of: a device and what of it is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Binding {
    /// The connection.
    pub connection_id: String,
    /// The device.
    pub client_id: ClientId,
    /// Its directories.
    pub roots: Vec<Root>,
    /// What of it is used; others that a newer peer may name are left out.
    #[serde(deserialize_with = "family::known")]
    pub capabilities: Vec<Family>,
    /// More about it.
    #[serde(default)]
    pub metadata: Map<String, Value>,
}
