//! Wire types of `/api/devices`, `/api/grants` and `/api/v1/relay`: the devices that are lent through a hub.
//!
//! Types of the hub use camelCase as the rest of its API does; types of the relay protocol ([`crate::relay`]) use snake_case.

pub(crate) mod device;
pub(crate) mod environment;
pub(crate) mod grant;
pub(crate) mod pairing;
pub(crate) mod status;

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
