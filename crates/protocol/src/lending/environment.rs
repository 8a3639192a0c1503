//! What a session uses of a device.

use std::{collections::BTreeMap, fmt};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    EnvironmentId, RuntimeId, SessionId, UserName, WorkspaceName,
    relay::{Approval, Binding, ClientId, Context, Family, Json, RootId},
};

/// The answer of `GET /api/v1/relay/environments`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentList {
    /// Every environment of the caller's workspaces, the oldest first.
    pub items: Vec<Environment>,
    /// Always `null`: the list is whole.
    pub next_cursor: Option<String>,
}

/// What a session uses of a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Environment {
    /// Its name.
    pub id: EnvironmentId,
    /// The device.
    pub client_id: ClientId,
    /// The runtime that uses it.
    pub runtime_id: RuntimeId,
    /// The workspace of both.
    pub workspace: WorkspaceName,
    /// The space, if it is for one.
    pub scope_id: Option<String>,
    /// The session, if it is for one.
    pub session_id: Option<SessionId>,
    /// The run, if it is for one.
    pub run_id: Option<String>,
    /// Who must be asked before, where that is stricter than what the device and the grant say.
    pub approvals: ApprovalRules,
    /// Since when there is it.
    pub created_at: Timestamp,
    /// By whom it was made.
    pub created_by: UserName,
    /// When it ends by itself: with the token that it was made with, if that does.
    pub expires_at: Option<Timestamp>,
    /// What can be used now; none while the device is away.
    pub binding: Option<Binding>,
}

/// Who must be asked before something is done: by the name of a method, such as `file.write`, or of a tool, such as
/// `tool:open_in_editor`. It only makes stricter.
pub type ApprovalRules = BTreeMap<String, Approval>;

/// `POST /api/v1/relay/environments`: a device that a session is to use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateEnvironmentRequest {
    /// The runtime that uses it.
    pub runtime_id: RuntimeId,
    /// The session, if it is for one: it ends with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The run, if it is for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// What of which device.
    #[serde(flatten)]
    pub using: EnvironmentSpec,
}

/// What of which device is used; the `environment` of a session that is made through a hub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentSpec {
    /// The device.
    pub client_id: ClientId,
    /// The space, if it is for one; grants that are for another do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope_id: Option<String>,
    /// Only this of what is granted; all of it if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<Family>>,
    /// Only these directories; all that are granted if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roots: Option<Vec<RootId>>,
    /// Who must be asked before, where that is stricter than what the device and the grant say.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub approvals: ApprovalRules,
}

/// The answer of `POST /api/v1/relay/environments`.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentCreated {
    /// The environment.
    pub environment: Environment,
    /// What its doors are opened with, as `Authorization: Bearer …`; it is not shown again, and good for nothing else.
    pub secret: String,
}

/// The secret is not shown.
impl fmt::Debug for EnvironmentCreated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvironmentCreated").field("environment", &self.environment).finish_non_exhaustive()
    }
}

/// `POST /api/v1/relay/environments/{id}/requests`: one thing that is asked of the device, as the relay says it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceRequest {
    /// What, such as `file.read`.
    pub method: String,
    /// With what.
    #[serde(default = "Json::empty")]
    pub params: Json,
    /// For which run and tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
    /// How long it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}
