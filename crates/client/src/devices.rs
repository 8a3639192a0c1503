//! `/api/devices` and `/api/grants`: the devices of a hub, and the permission of runtimes to use them.

use protocol::{
    GrantId,
    lending::{
        AddDeviceRequest, ConfirmPairingRequest, CreateGrantRequest, Device, DeviceAdded, DeviceList,
        GrantList, PairingConfirmed, PairingList, PendingPairing,
    },
    relay::{ClientId, Grant},
};
use reqwest::Method;

use crate::{ApiResponse, Client, Result};

/// The devices of a hub.
#[derive(Debug, Clone, Copy)]
pub struct DevicesApi<'a>(pub(crate) &'a Client);

impl DevicesApi<'_> {
    /// Lists all devices.
    pub async fn list(self) -> Result<ApiResponse<DeviceList>> {
        self.0.call(Method::GET, &["api", "devices"], &[]).await
    }

    /// Adds a device, or another token for it.
    pub async fn add(self, add: &AddDeviceRequest) -> Result<ApiResponse<DeviceAdded>> {
        self.0.call_with_body(Method::POST, &["api", "devices"], &[], add).await
    }

    /// Reads one device.
    pub async fn get(self, id: &ClientId) -> Result<ApiResponse<Device>> {
        self.0.call(Method::GET, &["api", "devices", id.as_str()], &[]).await
    }

    /// Removes a device.
    pub async fn remove(self, id: &ClientId) -> Result<ApiResponse<()>> {
        self.0.call(Method::DELETE, &["api", "devices", id.as_str()], &[]).await
    }

    /// Disconnects a device and revokes its tokens.
    pub async fn stop(self, id: &ClientId) -> Result<ApiResponse<()>> {
        self.0.call(Method::POST, &["api", "devices", id.as_str(), "stop"], &[]).await
    }

    /// Lists the open pairing requests.
    pub async fn pairings(self) -> Result<ApiResponse<PairingList>> {
        self.0.call(Method::GET, &["api", "devices", "pairings"], &[]).await
    }

    /// Reads the pairing request with this code.
    pub async fn pairing(self, code: &str) -> Result<ApiResponse<PendingPairing>> {
        self.0.call(Method::GET, &["api", "devices", "pairings", code], &[]).await
    }

    /// Confirms the pairing request with this code.
    pub async fn confirm(
        self,
        code: &str,
        confirm: &ConfirmPairingRequest,
    ) -> Result<ApiResponse<PairingConfirmed>> {
        self.0
            .call_with_body(Method::POST, &["api", "devices", "pairings", code, "confirm"], &[], confirm)
            .await
    }

    /// Rejects the pairing request with this code.
    pub async fn refuse(self, code: &str) -> Result<ApiResponse<()>> {
        self.0.call(Method::POST, &["api", "devices", "pairings", code, "refuse"], &[]).await
    }
}

/// The permission of runtimes to use devices.
#[derive(Debug, Clone, Copy)]
pub struct GrantsApi<'a>(pub(crate) &'a Client);

impl GrantsApi<'_> {
    /// Lists all grants.
    pub async fn list(self) -> Result<ApiResponse<GrantList>> {
        self.0.call(Method::GET, &["api", "grants"], &[]).await
    }

    /// Adds a grant.
    pub async fn add(self, add: &CreateGrantRequest) -> Result<ApiResponse<Grant>> {
        self.0.call_with_body(Method::POST, &["api", "grants"], &[], add).await
    }

    /// Revokes a grant.
    pub async fn remove(self, id: GrantId) -> Result<ApiResponse<()>> {
        self.0.call(Method::DELETE, &["api", "grants", &id.to_string()], &[]).await
    }
}
