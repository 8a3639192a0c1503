//! The status of devices, environments and the relay's audit.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DeviceConnection, Environment};
use crate::{
    EnvironmentId, UserName, WaitId, WorkspaceName,
    relay::{
        Availability, ClientId, Family, PolicyDecision, RawJson, RelayErrorCode, RequestStatus, Sha256,
        VirtualPath,
    },
};

/// The response of `GET /api/v1/relay/status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RelayStatus {
    /// Every connected device, sorted by id.
    pub devices: Vec<DeviceStatus>,
    /// Every environment, oldest first.
    pub environments: Vec<EnvironmentStatus>,
    /// The newest entry of the audit log.
    #[serde(alias = "audit")]
    pub audit_head: LedgerHead,
    /// A number that increases with every change to grants and policies.
    pub policy_version: u64,
    /// The workspaces in which lending is disabled.
    #[serde(alias = "workspacesOff")]
    pub disabled_workspaces: Vec<WorkspaceName>,
    /// The open approvals.
    pub waits: Vec<WaitId>,
    /// The approvals that hold for more than one request, and can be revoked.
    #[serde(alias = "remembered")]
    pub remembered_approvals: Vec<RememberedApproval>,
}

/// The status of a connected device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceStatus {
    /// The device.
    pub client_id: ClientId,
    /// The workspace that it is lent to.
    pub workspace: WorkspaceName,
    /// The connection.
    pub connection: DeviceConnection,
    /// The states of its capability families, where it reported them.
    #[serde(alias = "states")]
    pub capability_states: Vec<CapabilityState>,
    /// Its tools.
    pub tools: Vec<String>,
    /// The number of requests that wait for its response.
    #[serde(alias = "pending")]
    pub pending_requests: u64,
    /// Recent errors, newest first.
    pub errors: Vec<RelayCall>,
    /// The number of events that the hub did not recognise.
    pub unknown_events: u64,
}

/// The state of a capability family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CapabilityState {
    /// The family.
    pub capability: Family,
    /// The state.
    pub state: Availability,
}

/// The status of an environment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentStatus {
    /// The environment.
    #[serde(flatten)]
    pub environment: Environment,
    /// The number of running requests.
    #[serde(alias = "pending")]
    pub pending_requests: u64,
}

/// The newest entry of an audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LedgerHead {
    /// The sequence number; `null` if the log is empty.
    pub seq: Option<u64>,
    /// Its hash.
    pub hash: Option<Sha256>,
}

/// An approval that holds for more than one request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RememberedApproval {
    /// The id, for revoking it.
    pub id: WaitId,
    /// The device.
    pub client_id: ClientId,
    /// The workspace or space that it holds in.
    pub scope_id: String,
    /// The method, or the tool as `tool:NAME`.
    #[serde(alias = "what")]
    pub operation: String,
    /// The hash of the approved tool: a changed tool of the same name needs a new approval.
    pub tool_hash: Option<Sha256>,
    /// The environment that it holds for; all environments of the space if `null`.
    pub environment_id: Option<EnvironmentId>,
    /// The run that it holds for; requests without a run if `null`.
    pub run_id: Option<String>,
    /// The user who approved it.
    pub author: UserName,
    /// When it was approved.
    #[serde(alias = "at")]
    pub approved_at: Timestamp,
}

/// A request to a device and its outcome; also the `relay` control of a session's stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RelayCall {
    /// The id of the audit entry.
    pub id: String,
    /// The environment.
    pub environment_id: EnvironmentId,
    /// The device.
    pub client_id: ClientId,
    /// The method.
    pub method: String,
    /// The agent's tool call that caused it, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The run, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The subject in a few words: a path, a tool, the well-known programs of a command, or the id of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The path, if the subject is a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtual_path: Option<VirtualPath>,
    /// Whether it was allowed.
    pub policy_decision: PolicyDecision,
    /// When it started.
    pub started_at: Timestamp,
    /// The outcome; absent while it is running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<RequestStatus>,
    /// The error code, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RelayErrorCode>,
    /// The duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The artifacts that it produced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifact_ids: Vec<String>,
}

/// The response of `GET /api/v1/relay/audit`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RelayAuditPage {
    /// The entries after `cursor`, oldest first. A request has two: one from its start and one from its end.
    #[schemars(with = "Vec<BTreeMap<String, serde_json::Value>>")]
    pub items: Vec<RawJson>,
    /// Pass it as `cursor` for the next page; `null` on the last one.
    pub next_cursor: Option<String>,
}

/// The body of `PUT /api/workspaces/{workspace}/relay`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetWorkspaceRelayRequest {
    /// Whether devices can be lent in the workspace.
    pub enabled: bool,
}

/// The relay settings of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceRelaySettings {
    /// The workspace.
    pub workspace: WorkspaceName,
    /// Whether devices can be lent in the workspace.
    pub enabled: bool,
}

crate::schema::wire_types! {
    received: SetWorkspaceRelayRequest;
    sent: RelayStatus, RelayCall, RelayAuditPage, WorkspaceRelaySettings;
}
