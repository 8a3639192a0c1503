//! Audit entries: requests to devices and their outcomes.

pub mod chain;
mod command_summary;
mod known_programs;
mod request_summary;
mod shell_line;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use request_summary::RequestSummary;

use super::{ClientId, Family, RelayErrorCode, RootId, Sha256, VirtualPath};

/// One request to a device and its outcome. Fields beyond the requirement document are optional.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RelayAuditEntry {
    /// Identifies the entry.
    pub id: String,
    /// The connection that carried the request.
    pub connection_id: String,
    /// The device.
    pub client_id: ClientId,
    /// Requested method.
    pub method: String,
    /// The session for which the request was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The run for which the request was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The tool call for which the request was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Capability family of the method; absent for an unknown method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<Family>,
    /// The policy decision.
    pub policy_decision: PolicyDecision,
    /// Time at which the request arrived.
    pub started_at: Timestamp,
    /// Time of the response; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// Outcome; absent if there was no response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<RequestStatus>,
    /// Error code of a failed request. This field and all below are additions to the requirement document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<RelayErrorCode>,
    /// The root, for a file request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_id: Option<RootId>,
    /// The path, for a file request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_path: Option<VirtualPath>,
    /// Short description of the parameters, without contents and secrets.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub summary: Map<String, Value>,
    /// Position in the hash chain, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// `hash` of the previous entry; absent in the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev_hash: Option<Sha256>,
    /// Hash of this entry without this field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<Sha256>,
}

/// The policy decision on a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PolicyDecision {
    /// Allowed by the grant.
    Allowed,
    /// Approved by a user.
    Approved,
    /// Blocked.
    Blocked,
}

/// Outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestStatus {
    /// The request succeeded.
    Succeeded,
    /// The request failed.
    Failed,
    /// The request was cancelled.
    Cancelled,
}
