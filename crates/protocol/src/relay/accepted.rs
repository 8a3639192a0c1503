//! What a device is accepted for.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Family, Flow, Root, family};

/// What a device is accepted for, in answer to its hello: the event `relay.accepted`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Accepted {
    /// The connection.
    pub connection_id: String,
    /// The families that are offered, on and granted; others that a newer peer may name are left out.
    #[serde(deserialize_with = "family::known")]
    pub accepted_capabilities: Vec<Family>,
    /// The roots among them, each with what may be done in it; none if the peer says nothing of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_roots: Option<Vec<Root>>,
    /// When, by the clock of the server.
    pub server_time: Timestamp,
    /// How much of a stream the server takes at once; none if it knows no credit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<Flow>,
    /// What both know beyond the protocol; neither uses anything else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
}
