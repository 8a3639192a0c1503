//! What was asked of a device, and what came of it.

mod about;
pub mod chain;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use about::About;

use super::{ClientId, Code, Family, RootId, Sha256, VirtualPath};

/// A request and what came of it. What is not of the document may be left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditEntry {
    /// Its name.
    pub id: String,
    /// The connection.
    pub connection_id: String,
    /// The device.
    pub client_id: ClientId,
    /// What was asked.
    pub method: String,
    /// For which session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// For which run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// For which tool call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The family; none if there is no such method.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capability: Option<Family>,
    /// Whether it was allowed.
    pub policy_decision: Decision,
    /// When it was asked.
    pub started_at: Timestamp,
    /// When it was answered; none if it is not, or was not before the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// What came of it; none if it is not answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Why nothing came of it. Not of the document, as all below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Code>,
    /// The root, if it was about a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root_id: Option<RootId>,
    /// The path, if it was about a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_path: Option<VirtualPath>,
    /// What was asked in short, without contents and secrets.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub summary: Map<String, Value>,
    /// The place in the chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The `hash` of the entry before it; none if it is the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev_hash: Option<Sha256>,
    /// The hash of this entry without this field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<Sha256>,
}

/// Whether a request was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// By the grant.
    Allowed,
    /// By somebody.
    Approved,
    /// Not.
    Blocked,
}

/// What came of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RequestStatus")]
pub enum Status {
    /// What was asked for.
    Succeeded,
    /// An error.
    Failed,
    /// Nothing, as it was no longer wanted.
    Cancelled,
}
