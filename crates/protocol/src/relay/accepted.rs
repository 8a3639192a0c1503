//! The relay server's answer to the hello of a device.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Family, Root, StreamWindow, family};

/// The relay server's answer to a hello: payload of the event `relay.accepted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RelayAccepted {
    /// Identifies the connection.
    pub connection_id: String,
    /// The families that are offered, enabled and granted. A reader ignores families that it does not know.
    #[serde(deserialize_with = "family::known_families")]
    pub accepted_capabilities: Vec<Family>,
    /// The accepted roots with their effective modes. Absent if the peer does not report roots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_roots: Option<Vec<Root>>,
    /// Current time of the relay server.
    pub server_time: Timestamp,
    /// The server's stream window; absent if the server does not support stream credit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<StreamWindow>,
    /// Protocol extensions that both sides support. Neither side uses any other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
}
