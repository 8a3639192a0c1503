//! Environments: a session's access to a device.

use std::{collections::BTreeMap, fmt};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    EnvironmentId, RuntimeId, SessionId, UserName, WorkspaceName,
    relay::{ApprovalPolicy, Binding, ClientId, Family, RawJson, RelayContext, RootId},
};

/// The response of `GET /api/v1/relay/environments`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentList {
    /// Every environment of the caller's workspaces, oldest first.
    pub items: Vec<Environment>,
    /// Always `null`: the list is complete.
    pub next_cursor: Option<String>,
}

/// A session's access to a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Environment {
    /// The id.
    pub id: EnvironmentId,
    /// The device.
    pub client_id: ClientId,
    /// The runtime that uses the device.
    pub runtime_id: RuntimeId,
    /// The workspace of device and runtime.
    pub workspace: WorkspaceName,
    /// The space that it is limited to, if any.
    pub scope_id: Option<String>,
    /// The session that it is limited to, if any.
    pub session_id: Option<SessionId>,
    /// The run that it is limited to, if any.
    pub run_id: Option<String>,
    /// Approval rules in addition to those of the device and the grant.
    pub approvals: ApprovalRules,
    /// When it was created.
    pub created_at: Timestamp,
    /// The user who created it.
    pub created_by: UserName,
    /// When it expires: with the token that created it, if that expires.
    pub expires_at: Option<Timestamp>,
    /// The usable capabilities; `null` while the device is not connected.
    pub binding: Option<Binding>,
}

/// The approval that a request needs, by the name of a method, such as `file.write`, or of a tool, such as
/// `tool:open_in_editor`. Rules can only be stricter than those of the device and the grant.
pub type ApprovalRules = BTreeMap<String, ApprovalPolicy>;

/// The body of `POST /api/v1/relay/environments`, which gives a session access to a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateEnvironmentRequest {
    /// The runtime that uses the device.
    pub runtime_id: RuntimeId,
    /// The session to limit it to: it ends with the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The run that it is limited to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The device and the capabilities.
    #[serde(flatten)]
    pub using: EnvironmentSpec,
}

/// The device and the capabilities to use; also the `environment` of a session that is created through a hub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentSpec {
    /// The device.
    pub client_id: ClientId,
    /// The space to limit it to; grants for another space do not apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_id: Option<String>,
    /// The capability families to use; all granted ones if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<Family>>,
    /// The directories to use; all granted ones if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roots: Option<Vec<RootId>>,
    /// Approval rules in addition to those of the device and the grant.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub approvals: ApprovalRules,
}

/// The response of `POST /api/v1/relay/environments`.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentCreated {
    /// The environment.
    pub environment: Environment,
    /// The secret for the routes of this environment, as `Authorization: Bearer …`. No other response contains it.
    pub secret: String,
}

/// Leaves out the secret.
impl fmt::Debug for EnvironmentCreated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvironmentCreated").field("environment", &self.environment).finish_non_exhaustive()
    }
}

/// The body of `POST /api/v1/relay/environments/{id}/requests`: one request to the device, as in the relay protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceRequest {
    /// The method, such as `file.read`.
    pub method: String,
    /// The parameters of the method.
    #[serde(default = "RawJson::empty")]
    pub params: RawJson,
    /// The run and tool call that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<RelayContext>,
    /// The time limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

crate::schema::wire_types! {
    received: CreateEnvironmentRequest, EnvironmentSpec, DeviceRequest;
    sent: EnvironmentList, Environment, EnvironmentCreated;
}
