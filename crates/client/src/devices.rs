//! `/api/devices` and `/api/grants`: the machines that are lent through a hub, and to whom.

use protocol::{
    GrantId,
    lending::{
        AddDeviceRequest, ConfirmPairingRequest, CreateGrantRequest, Device, DeviceAdded, DeviceList,
        GrantList, PairingConfirmed, PairingList, PendingPairing,
    },
    relay::{ClientId, Grant},
};
use reqwest::Method;

use crate::{Answer, Client, Result};

/// The devices of a hub.
#[derive(Debug, Clone, Copy)]
pub struct Devices<'a>(pub(crate) &'a Client);

impl Devices<'_> {
    /// Every device.
    pub async fn list(self) -> Result<Answer<DeviceList>> {
        self.0.ask(Method::GET, &["api", "devices"], &[]).await
    }

    /// Lets a device in, or one more copy of it.
    pub async fn add(self, add: &AddDeviceRequest) -> Result<Answer<DeviceAdded>> {
        self.0.tell(Method::POST, &["api", "devices"], &[], add).await
    }

    /// How a device is.
    pub async fn get(self, id: &ClientId) -> Result<Answer<Device>> {
        self.0.ask(Method::GET, &["api", "devices", id.as_str()], &[]).await
    }

    /// Removes a device.
    pub async fn remove(self, id: &ClientId) -> Result<Answer<()>> {
        self.0.ask(Method::DELETE, &["api", "devices", id.as_str()], &[]).await
    }

    /// Cuts a device off; it needs another token to come back.
    pub async fn stop(self, id: &ClientId) -> Result<Answer<()>> {
        self.0.ask(Method::POST, &["api", "devices", id.as_str(), "stop"], &[]).await
    }

    /// Every device that wants to be let in.
    pub async fn pairings(self) -> Result<Answer<PairingList>> {
        self.0.ask(Method::GET, &["api", "devices", "pairings"], &[]).await
    }

    /// The device that shows this code.
    pub async fn pairing(self, code: &str) -> Result<Answer<PendingPairing>> {
        self.0.ask(Method::GET, &["api", "devices", "pairings", code], &[]).await
    }

    /// Lets the device in that shows this code.
    pub async fn confirm(
        self,
        code: &str,
        confirm: &ConfirmPairingRequest,
    ) -> Result<Answer<PairingConfirmed>> {
        self.0.tell(Method::POST, &["api", "devices", "pairings", code, "confirm"], &[], confirm).await
    }

    /// Does not let it in.
    pub async fn refuse(self, code: &str) -> Result<Answer<()>> {
        self.0.ask(Method::POST, &["api", "devices", "pairings", code, "refuse"], &[]).await
    }
}

/// What devices may offer and runtimes may use.
#[derive(Debug, Clone, Copy)]
pub struct Grants<'a>(pub(crate) &'a Client);

impl Grants<'_> {
    /// Every grant.
    pub async fn list(self) -> Result<Answer<GrantList>> {
        self.0.ask(Method::GET, &["api", "grants"], &[]).await
    }

    /// Grants something.
    pub async fn add(self, add: &CreateGrantRequest) -> Result<Answer<Grant>> {
        self.0.tell(Method::POST, &["api", "grants"], &[], add).await
    }

    /// Takes a grant back.
    pub async fn remove(self, id: GrantId) -> Result<Answer<()>> {
        self.0.ask(Method::DELETE, &["api", "grants", &id.to_string()], &[]).await
    }
}
