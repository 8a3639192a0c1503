//! The environment relay protocol, `ya-environment-relay.v1`: a device lends the capabilities that its owner
//! selected.
//!
//! Both ends of a connection exchange the same eight kinds of frames ([`Frame`]). All methods are declared in one
//! table ([`METHODS`]); each capability family has a module with their types. A reader ignores unknown fields and
//! treats an unknown kind of frame as a protocol error of the peer.

mod accepted;
pub mod artifact;
pub mod audit;
mod beat;
mod binding;
mod capability;
pub mod computer;
mod error;
mod event;
mod family;
mod fault;
pub mod file;
mod frame;
mod grant;
mod hello;
mod ids;
mod json;
pub mod method;
mod packet;
mod path;
mod policy;
mod request;
pub mod resource;
mod response;
mod root;
mod schema;
pub mod shell;
pub mod tool;
mod virtual_path;

pub use accepted::Accepted;
pub use audit::{AuditEntry, Decision, Status};
pub use beat::Beat;
pub use binding::Binding;
pub use capability::{Capabilities, Computer, Fileops, Flow, OfferedRoot, Shell, Switch, Tools};
pub use error::{Code, RelayError};
pub use event::{CapabilityUpdated, Credit, Event, EventFrame, Pause, ResourceUpdated, State};
pub use family::Family;
pub use frame::{Frame, Malformed};
pub use grant::{CapabilityGrant, Grant, Network, ShellGrant, Terms};
pub use hello::{Hello, InvalidHello, Offer, ROOTS_MAX};
pub use ids::{ClientId, RootId, Sha256, ToolName};
pub use json::Json;
pub use method::{Access, METHODS, Method, Row, Side};
pub use packet::{BINARY_READ, Packet};
pub use path::{InvalidPath, PATH_MAX, RelayPath};
pub use policy::{Approval, Risk};
pub use request::{Cancel, Context, Request};
pub use response::{Encoding, Response, StreamFrame};
pub use root::{Mode, Root};
pub use schema::schemas;
pub use virtual_path::VirtualPath;

/// The protocol name, sent in the first frame of a device.
pub const PROTOCOL: &str = "ya-environment-relay.v1";

#[cfg(test)]
mod tests;
