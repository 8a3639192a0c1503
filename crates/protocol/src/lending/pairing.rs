//! A device that is let in by a short code, so that nobody copies a token.

use std::{fmt, net::IpAddr};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Device;
use crate::{
    RuntimeId, WorkspaceName,
    relay::{Capabilities, CapabilityGrant, ClientId, Grant},
};

/// `POST /api/devices/pairings`: a device that wants to be let in, and what it would lend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartPairingRequest {
    /// The device.
    pub client_id: ClientId,
    /// What its owner calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The version of its program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
    /// What it would lend, as its hello says it.
    #[serde(default)]
    pub capabilities: Capabilities,
}

/// What somebody is to be told, and what the device asks with.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PairingStarted {
    /// What is confirmed in the hub.
    pub code: String,
    /// What the device asks with whether it was, as `Authorization: Bearer …`.
    pub claim_secret: String,
    /// Until when that can be done.
    pub expires_at: Timestamp,
    /// How long to wait before asking again.
    pub poll_ms: u64,
}

/// The secret is not shown.
impl fmt::Debug for PairingStarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PairingStarted").field("code", &self.code).finish_non_exhaustive()
    }
}

/// The answer of `GET /api/devices/pairings`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PairingList {
    /// Every device that wants to be let in, the oldest first.
    pub items: Vec<PendingPairing>,
    /// Always `null`: the list is whole.
    pub next_cursor: Option<String>,
}

/// A device that wants to be let in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingPairing {
    /// What it shows to its owner.
    pub code: String,
    /// The device.
    pub client_id: ClientId,
    /// What its owner calls it.
    pub label: Option<String>,
    /// The version of its program.
    pub client_version: Option<String>,
    /// What it would lend.
    pub capabilities: Capabilities,
    /// From where it came.
    pub peer: Option<IpAddr>,
    /// Since when it waits.
    pub created_at: Timestamp,
    /// Until when it does.
    pub expires_at: Timestamp,
}

/// `POST /api/devices/pairings/{code}/confirm`: the device is let in, and this is granted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConfirmPairingRequest {
    /// The workspace that it is lent to.
    #[serde(default)]
    pub workspace: WorkspaceName,
    /// Until when it is let in; 30 days if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The runtimes that may use it; none if left out, so that grants are given later.
    #[serde(default)]
    pub runtimes: Vec<RuntimeId>,
    /// What they may use of it.
    #[serde(default)]
    pub capabilities: Vec<CapabilityGrant>,
}

/// What came of confirming.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PairingConfirmed {
    /// The device.
    pub device: Device,
    /// What was granted.
    pub grants: Vec<Grant>,
}

/// `POST /api/devices/pairings/claim`: whether the device is let in.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PairingClaim {
    /// Nobody has said so yet.
    Waiting,
    /// It is.
    Confirmed(PairedDevice),
}

/// What a device that was let in is told, once.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PairedDevice {
    /// The device.
    pub client_id: ClientId,
    /// The workspace that it is lent to.
    pub workspace: WorkspaceName,
    /// What it connects with.
    pub token: String,
    /// Until when.
    pub expires_at: Timestamp,
}

/// The secret is not shown.
impl fmt::Debug for PairedDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PairedDevice").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

impl fmt::Debug for PairingClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting => f.write_str("Waiting"),
            Self::Confirmed(device) => f.debug_tuple("Confirmed").field(device).finish(),
        }
    }
}
