//! Devices that are registered with a hub.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    TokenId, UserName, WorkspaceName,
    relay::{ClientId, Family, Root},
};

/// The response of `GET /api/devices`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceList {
    /// Every device of the caller's workspaces, sorted by id.
    pub items: Vec<Device>,
    /// Always `null`: the list is complete.
    pub next_cursor: Option<String>,
}

/// A device that is registered with a hub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Device {
    /// The id.
    pub client_id: ClientId,
    /// The workspace that it is lent to.
    pub workspace: WorkspaceName,
    /// The owner's label.
    pub label: Option<String>,
    /// The tokens that it connects with, without their secrets.
    pub tokens: Vec<DeviceToken>,
    /// When it was registered.
    pub created_at: Timestamp,
    /// The user who registered it.
    pub created_by: UserName,
    /// Its connection; `null` if it is not connected.
    pub connection: Option<DeviceConnection>,
}

/// A token of one copy of a device, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceToken {
    /// The id, for revoking it.
    pub id: TokenId,
    /// The copy of the device. Two different copies are never connected at the same time.
    pub instance_id: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
}

/// The connection of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceConnection {
    /// The id of the connection.
    pub connection_id: String,
    /// When it was established.
    #[serde(alias = "sinceAt")]
    pub connected_at: Timestamp,
    /// The capability families that the hub accepted.
    pub capabilities: Vec<Family>,
    /// The directories that the hub accepted.
    pub roots: Vec<Root>,
    /// The last round-trip time in microseconds; `null` if not measured yet.
    pub latency_us: Option<u64>,
    /// Whether its owner has paused it.
    pub is_paused: bool,
}

/// The body of `POST /api/devices`, which registers a device, or another copy of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddDeviceRequest {
    /// The id.
    pub client_id: ClientId,
    /// The workspace that it is lent to.
    #[serde(default)]
    pub workspace: WorkspaceName,
    /// The owner's label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The copy of the device; a new one if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_id: Option<String>,
    /// When the token expires; in 30 days if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// The response of `POST /api/devices`.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceAdded {
    /// The device.
    pub device: Device,
    /// The secret to connect with as `Authorization: Bearer …`. No other response contains it.
    pub secret: String,
}

/// Leaves out the secret.
impl fmt::Debug for DeviceAdded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceAdded").field("device", &self.device).finish_non_exhaustive()
    }
}

crate::schema::wire_types! {
    received: AddDeviceRequest;
    sent: DeviceList, Device, DeviceAdded;
}
