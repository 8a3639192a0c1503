//! Pairing: a device is registered by a short code, so that its owner need not copy a token.

use std::{fmt, net::IpAddr};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Device;
use crate::{
    RuntimeId, WorkspaceName,
    relay::{CapabilityGrant, ClientId, DeviceCapabilities, Grant},
};

/// The body of `POST /api/devices/pairings`, with which a device asks to be registered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartPairingRequest {
    /// The device.
    pub client_id: ClientId,
    /// The owner's label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The version of Tombolo on the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_version: Option<String>,
    /// The capabilities that it offers, as in the relay's hello.
    #[serde(default)]
    pub capabilities: DeviceCapabilities,
}

/// The response of `POST /api/devices/pairings`.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PairingStarted {
    /// The code that a user confirms on the hub.
    pub code: String,
    /// The secret with which the device polls for the outcome, as `Authorization: Bearer …`.
    pub claim_secret: String,
    /// When the code expires.
    pub expires_at: Timestamp,
    /// The interval between polls.
    #[serde(alias = "pollMs")]
    pub poll_interval_ms: u64,
}

/// Leaves out the secret.
impl fmt::Debug for PairingStarted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PairingStarted").field("code", &self.code).finish_non_exhaustive()
    }
}

/// The response of `GET /api/devices/pairings`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PairingList {
    /// Every device that waits for confirmation, oldest first.
    pub items: Vec<PendingPairing>,
    /// Always `null`: the list is complete.
    pub next_cursor: Option<String>,
}

/// A device that waits for confirmation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingPairing {
    /// The code that it shows to its owner.
    pub code: String,
    /// The device.
    pub client_id: ClientId,
    /// The owner's label.
    pub label: Option<String>,
    /// The version of Tombolo on the device.
    pub client_version: Option<String>,
    /// The capabilities that it offers.
    pub capabilities: DeviceCapabilities,
    /// The address of the device.
    pub peer: Option<IpAddr>,
    /// When it asked.
    pub created_at: Timestamp,
    /// When the code expires.
    pub expires_at: Timestamp,
}

/// The body of `POST /api/devices/pairings/{code}/confirm`, which registers the device and creates grants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConfirmPairingRequest {
    /// The workspace to lend it to.
    #[serde(default)]
    pub workspace: WorkspaceName,
    /// When its token expires; in 30 days if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The runtimes that may use it; none if left out, for grants that are created later.
    #[serde(default)]
    pub runtimes: Vec<RuntimeId>,
    /// The granted capabilities.
    #[serde(default)]
    pub capabilities: Vec<CapabilityGrant>,
}

/// The response of `POST /api/devices/pairings/{code}/confirm`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PairingConfirmed {
    /// The device.
    pub device: Device,
    /// The created grants.
    pub grants: Vec<Grant>,
}

/// The response of `POST /api/devices/pairings/claim`.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PairingClaim {
    /// The code was not confirmed yet.
    Waiting,
    /// The device is registered.
    Confirmed(PairedDevice),
}

/// The credentials of a registered device, which are sent once.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PairedDevice {
    /// The device.
    pub client_id: ClientId,
    /// The workspace to lend it to.
    pub workspace: WorkspaceName,
    /// The secret to connect with.
    pub token: String,
    /// When the token expires.
    pub expires_at: Timestamp,
}

/// Leaves out the secret.
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

crate::schema::wire_types! {
    received: StartPairingRequest, ConfirmPairingRequest;
    sent: PairingStarted, PairingList, PendingPairing, PairingConfirmed, PairingClaim;
}
