//! `/api/devices`, `/api/grants`, `/api/v1/relay`: what a hub says of the devices that are lent through it.
//!
//! What belongs to a hub is written as the rest of its API is; what the relay itself says ([`crate::relay`]) stays as it is there.

mod device;
mod environment;
mod grant;
mod pairing;
mod status;

pub use device::{AddDeviceRequest, Device, DeviceAdded, DeviceConnection, DeviceList, DeviceToken};
pub use environment::{
    ApprovalRules, CreateEnvironmentRequest, DeviceRequest, Environment, EnvironmentCreated, EnvironmentList,
    EnvironmentSpec,
};
pub use grant::{CreateGrantRequest, GrantList};
pub use pairing::{
    ConfirmPairingRequest, PairedDevice, PairingClaim, PairingConfirmed, PairingList, PairingStarted,
    PendingPairing, StartPairingRequest,
};
pub use status::{
    CapabilityState, DeviceStatus, EnvironmentStatus, LedgerHead, RelayAuditPage, RelayCall, RelayStatus,
    RememberedApproval, SetWorkspaceRelayRequest, WorkspaceRelaySettings,
};
