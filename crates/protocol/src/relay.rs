//! The environment relay protocol, `ya-environment-relay.v1`: a device lends the capabilities that its owner
//! selected.
//!
//! Both ends of a connection exchange the same eight kinds of frames ([`Frame`]). All methods are declared in one
//! table ([`METHODS`]); each capability family has a module with their types. A reader ignores unknown fields and
//! treats an unknown kind of frame as a protocol error of the peer.

mod accepted;
pub mod artifact;
pub mod audit;
mod binding;
mod capability;
pub mod computer;
mod error;
mod event;
mod family;
pub mod file;
mod frame;
pub(crate) mod grant;
mod hello;
mod ids;
pub mod method;
mod packet;
mod parse_error;
mod ping_frame;
mod policy;
mod raw_json;
mod relay_path;
mod request;
pub mod resource;
mod response;
mod root;
mod schema;
pub mod shell;
pub mod tool;
mod virtual_path;

pub use accepted::RelayAccepted;
pub use audit::{PolicyDecision, RelayAuditEntry, RequestStatus};
pub use binding::Binding;
pub use capability::{
    BasicCapability, ComputerCapability, DeviceCapabilities, FileCapability, OfferedRoot, ShellCapability,
    StreamWindow, ToolCapability,
};
pub use error::{RelayError, RelayErrorCode};
pub use event::{
    Availability, CapabilityUpdated, EventFrame, ProviderPauseChanged, RelayEvent, ResourceUpdated,
    StreamCredit,
};
pub use family::Family;
pub use frame::{Frame, MalformedFrame};
pub use grant::{CapabilityGrant, CommandNetwork, Grant, RequestLimits, ShellGrant};
pub use hello::{DeviceOffer, Hello, InvalidHello, ROOTS_MAX};
pub use ids::{ClientId, RootId, Sha256, ToolName};
pub use method::{ConnectionSide, METHODS, MethodAccess, MethodInfo, RelayMethod};
pub use packet::{BINARY_READ, Packet};
pub use ping_frame::PingFrame;
pub use policy::{ApprovalPolicy, ToolRisk};
pub use raw_json::RawJson;
pub use relay_path::{InvalidPath, PATH_MAX, RelayPath};
pub use request::{CancelFrame, RelayContext, Request};
pub use response::{Encoding, Response, StreamFrame};
pub use root::{Root, RootMode};
pub use schema::schemas;
pub use virtual_path::VirtualPath;

/// The protocol name, sent in the first frame of a device.
pub const PROTOCOL: &str = "ya-environment-relay.v1";

#[cfg(test)]
mod tests;
