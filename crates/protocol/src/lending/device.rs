//! Devices that a hub knows.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    TokenId, UserName, WorkspaceName,
    relay::{ClientId, Family, Root},
};

/// The answer of `GET /api/devices`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceList {
    /// Every device of the caller's workspaces, by name.
    pub items: Vec<Device>,
    /// Always `null`: the list is whole.
    pub next_cursor: Option<String>,
}

/// A device that may connect to a hub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Device {
    /// Its name.
    pub client_id: ClientId,
    /// The workspace that it is lent to.
    pub workspace: WorkspaceName,
    /// What its owner calls it.
    pub label: Option<String>,
    /// What lets it in; the secrets are known to nobody but the device.
    pub tokens: Vec<DeviceToken>,
    /// Since when the hub knows it.
    pub created_at: Timestamp,
    /// By whom it was added.
    pub created_by: UserName,
    /// How it is connected; none if it is not.
    pub connection: Option<DeviceConnection>,
}

/// What lets one copy of a device in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceToken {
    /// Its name, by which it is revoked.
    pub id: TokenId,
    /// Which copy of the device: two that differ are not connected at a time.
    pub instance_id: String,
    /// Since when there is it.
    pub created_at: Timestamp,
    /// Until when it is good.
    pub expires_at: Timestamp,
}

/// How a device is connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceConnection {
    /// The connection.
    pub connection_id: String,
    /// Since when.
    pub since_at: Timestamp,
    /// What it is accepted for.
    pub capabilities: Vec<Family>,
    /// The directories among that.
    pub roots: Vec<Root>,
    /// How long it took to answer last, in microseconds; none if that is not known yet.
    pub latency_us: Option<u64>,
    /// Whether its owner has paused it.
    pub is_paused: bool,
}

/// `POST /api/devices`: a device that is to be let in, or one more copy of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddDeviceRequest {
    /// Its name.
    pub client_id: ClientId,
    /// The workspace that it is lent to.
    #[serde(default)]
    pub workspace: WorkspaceName,
    /// What its owner calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Which copy of the device it is; a new one if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_id: Option<String>,
    /// Until when it is let in; 30 days if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// The answer of `POST /api/devices`.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceAdded {
    /// The device.
    pub device: Device,
    /// What it connects with, as `Authorization: Bearer …`; it is not shown again.
    pub secret: String,
}

/// The secret is not shown.
impl fmt::Debug for DeviceAdded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceAdded").field("device", &self.device).finish_non_exhaustive()
    }
}
