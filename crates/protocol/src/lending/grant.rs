//! Grants: what a device may offer and a runtime may use.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    RuntimeId,
    relay::{CapabilityGrant, ClientId, Grant},
};

/// The response of `GET /api/grants`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrantList {
    /// Every grant for devices of the caller's workspaces, oldest first.
    pub items: Vec<Grant>,
    /// Always `null`: the list is complete.
    pub next_cursor: Option<String>,
}

/// The body of `POST /api/grants`, which lets a runtime use capabilities of a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateGrantRequest {
    /// The device.
    pub client_id: ClientId,
    /// The runtime, which must be in the same workspace.
    pub runtime_id: RuntimeId,
    /// The space to limit it to; the whole runtime if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_id: Option<String>,
    /// The granted capabilities, as in the relay protocol.
    pub capabilities: Vec<CapabilityGrant>,
    /// When it expires; never if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

crate::schema::wire_types! {
    received: CreateGrantRequest;
    sent: GrantList;
}
