//! What devices may offer and runtimes may use.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    RuntimeId,
    relay::{CapabilityGrant, ClientId, Grant},
};

/// The answer of `GET /api/grants`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrantList {
    /// Every grant of the devices of the caller's workspaces, the oldest first.
    pub items: Vec<Grant>,
    /// Always `null`: the list is whole.
    pub next_cursor: Option<String>,
}

/// `POST /api/grants`: what a device may offer and a runtime may use from now on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateGrantRequest {
    /// The device.
    pub client_id: ClientId,
    /// The runtime; of the same workspace.
    pub runtime_id: RuntimeId,
    /// The workspace or space, if it is for one; for all of the runtime if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_id: Option<String>,
    /// What it allows, as the relay says it.
    pub capabilities: Vec<CapabilityGrant>,
    /// When it ends; never if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}
