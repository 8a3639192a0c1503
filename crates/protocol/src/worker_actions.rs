//! The requests about a worker that a caller may send.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sessions::Session;

/// The response of `GET /api/runtimes/{runtime_id}/workers/{worker_id}`: the session, and what the caller may do with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerDetails {
    /// The session.
    pub session: Session,
    /// Every request about the session that the hub knows, and whether it would accept it from this caller now.
    pub actions: Vec<WorkerAction>,
}

/// A request about a worker, and whether the hub would accept it from the caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerAction {
    /// The name of the action, as in messages and in the audit log: `sessions.send`.
    pub action: String,
    /// The HTTP method.
    pub method: String,
    /// The path on the hub. Parameters other than the runtime and the worker are left as `{name}`.
    pub path: String,
    /// Whether the role, the token and the policy allow it now. The session itself may still refuse it.
    pub allowed: bool,
    /// Why it is not allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

crate::schema::wire_types! {
    sent: WorkerDetails;
}
