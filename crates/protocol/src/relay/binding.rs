//! The binding from which an environment is created.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ClientId, Family, Root, family};

/// Binds an environment to a device: the roots and capability families that it uses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Binding {
    /// Connection of the device.
    pub connection_id: String,
    /// The device.
    pub client_id: ClientId,
    /// Roots that the environment uses.
    pub roots: Vec<Root>,
    /// Capability families that the environment uses. A reader ignores families that it does not know.
    #[serde(deserialize_with = "family::known_families")]
    pub capabilities: Vec<Family>,
    /// Further properties, free-form.
    #[serde(default)]
    pub metadata: Map<String, Value>,
}
