//! How it is with everything that is lent.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DeviceConnection, Environment};
use crate::{
    EnvironmentId, UserName, WaitId, WorkspaceName,
    relay::{ClientId, Code, Decision, Family, Json, Sha256, State, Status, VirtualPath},
};

/// The answer of `GET /api/v1/relay/status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RelayStatus {
    /// Every device that is connected, by name.
    pub devices: Vec<DeviceStatus>,
    /// Every environment, the oldest first.
    pub environments: Vec<EnvironmentStatus>,
    /// The last entry of the audit.
    pub audit: LedgerHead,
    /// How often grants and policies have changed.
    pub policy_version: u64,
    /// The workspaces in which nothing is lent.
    pub workspaces_off: Vec<WorkspaceName>,
    /// Whose approval is waited for.
    pub waits: Vec<WaitId>,
    /// What was approved for more than once, and can be taken back.
    pub remembered: Vec<RememberedApproval>,
}

/// How it is with a device that is connected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceStatus {
    /// The device.
    pub client_id: ClientId,
    /// The workspace that it is lent to.
    pub workspace: WorkspaceName,
    /// The connection.
    pub connection: DeviceConnection,
    /// How its families are, where it said so.
    pub states: Vec<CapabilityState>,
    /// Its tools.
    pub tools: Vec<String>,
    /// How many requests wait for its answer.
    pub pending: u64,
    /// What went wrong last, the newest first.
    pub errors: Vec<RelayCall>,
    /// How many events of it were not known.
    pub unknown_events: u64,
}

/// How a family is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapabilityState {
    /// The family.
    pub capability: Family,
    /// How it is.
    pub state: State,
}

/// How it is with an environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentStatus {
    /// The environment.
    #[serde(flatten)]
    pub environment: Environment,
    /// How many requests go on.
    pub pending: u64,
}

/// The last entry of an audit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LedgerHead {
    /// Its place; none if there is none.
    pub seq: Option<u64>,
    /// Its hash.
    pub hash: Option<Sha256>,
}

/// What was approved for more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RememberedApproval {
    /// Its name, by which it is taken back.
    pub id: WaitId,
    /// The device.
    pub client_id: ClientId,
    /// The workspace or space that it was approved for.
    pub scope_id: String,
    /// The method, or the tool as `tool:NAME`.
    pub what: String,
    /// The tool as it was then, if it is one: of another of that name nothing was approved.
    pub tool_hash: Option<Sha256>,
    /// The environment that it was approved for; all of the space if none.
    pub environment_id: Option<EnvironmentId>,
    /// The run in that environment; what is done there in no run if none.
    pub run_id: Option<String>,
    /// By whom.
    pub author: UserName,
    /// When.
    pub at: Timestamp,
}

/// A request to a device and what came of it, in short: also the control `relay` of a session's stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RelayCall {
    /// The entry of the audit.
    pub id: String,
    /// The environment.
    pub environment_id: EnvironmentId,
    /// The device.
    pub client_id: ClientId,
    /// What was asked.
    pub method: String,
    /// The tool call of the agent that caused it, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The run, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// What it was about: a path, a program, a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The path, if it was about a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtual_path: Option<VirtualPath>,
    /// Whether it was allowed.
    pub policy_decision: Decision,
    /// When it was asked.
    pub started_at: Timestamp,
    /// What came of it; none while it goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Why nothing came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Code>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The artifacts that came of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifact_ids: Vec<String>,
}

/// The answer of `GET /api/v1/relay/audit`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RelayAuditPage {
    /// The entries after `offset`, the oldest first. A request has two: one when it was begun, one when it ended.
    #[schemars(with = "Vec<BTreeMap<String, serde_json::Value>>")]
    pub items: Vec<Json>,
    /// Whether there are more by now.
    pub has_more: bool,
}

/// `PUT /api/workspaces/{workspace}/relay`: whether devices are lent in a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetWorkspaceRelayRequest {
    /// Whether they are.
    pub enabled: bool,
}

/// Whether devices are lent in a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceRelaySettings {
    /// The workspace.
    pub workspace: WorkspaceName,
    /// Whether they are.
    pub enabled: bool,
}
