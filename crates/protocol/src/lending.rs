//! `/api/devices`, `/api/grants`, `/api/v1/relay`: what a hub says of the devices that are lent through it.
//!
//! What belongs to a hub is written as the rest of its API is; what the relay itself says ([`crate::relay`]) stays as it is there.

mod device;
mod environment;
mod grant;
mod pairing;
mod status;

pub use device::{AddDevice, AddedDevice, Device, DeviceConnection, DeviceList, DeviceToken};
pub use environment::{
    AddEnvironment, AddedEnvironment, Approvals, AskDevice, Environment, EnvironmentList, UseDevice,
};
pub use grant::{AddGrant, GrantList};
pub use pairing::{
    BeginPairing, Claimed, ConfirmPairing, Confirmed, PairedDevice, Pairing, PairingList, PairingRequest,
};
pub use status::{
    CapabilityState, DeviceStatus, EnvironmentStatus, LedgerHead, RelayAuditPage, RelayCall, RelayStatus,
    Remembered, SetWorkspaceRelay, WorkspaceRelay,
};
