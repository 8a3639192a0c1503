//! `/api`: what a hub says of the runtimes that it knows.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::RuntimeId;

/// What somebody may do in a workspace; each may do what those before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// Watches.
    Viewer,
    /// Drives sessions: sends, answers, cancels.
    Controller,
    /// Everything, also files, configuration and what runs.
    Owner,
}

/// The answer of `GET /api/runtimes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeList {
    /// Every runtime, by name.
    pub items: Vec<Runtime>,
    /// Always `null`: the list is whole.
    pub next_cursor: Option<String>,
}

/// A daemon that a hub knows. Where it is and how it is spoken to stays with the hub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Runtime {
    /// Its name.
    pub id: RuntimeId,
    /// How the hub comes to it.
    pub kind: RuntimeKind,
    /// Whether it answers; none where that is known only by asking, and it was not asked.
    pub is_up: Option<bool>,
    /// Since when the hub knows it.
    pub added_at: Timestamp,
}

/// How a hub comes to a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RuntimeKind {
    /// Over the network, at an address.
    Remote,
    /// In the same process.
    Local,
    /// Through a connection that the daemon makes.
    Joined,
}

/// `POST /api/runtimes/join-tokens`: a daemon that is to come by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InviteRuntime {
    /// The name that it gets.
    pub id: RuntimeId,
}

/// What a daemon joins a hub with.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JoinToken {
    /// The runtime that it is for, and no other.
    pub id: RuntimeId,
    /// The token; it is told only now.
    pub token: String,
}

/// The token is not shown.
impl std::fmt::Debug for JoinToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JoinToken").field("id", &self.id).finish_non_exhaustive()
    }
}

/// `POST /api/runtimes`: a daemon that the hub is to know.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddRuntime {
    /// The name that it gets.
    pub id: RuntimeId,
    /// Where it is, such as `http://127.0.0.1:2468`; nobody is told.
    pub endpoint: String,
    /// Its token, if it needs one; nobody is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// Neither where it is nor its token is shown.
impl std::fmt::Debug for AddRuntime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AddRuntime").field("id", &self.id).finish_non_exhaustive()
    }
}
