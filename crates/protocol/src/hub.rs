//! Wire types of `/api/runtimes`: the daemons that a hub knows, and roles.

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RuntimeId, WorkspaceName};

/// A role in a workspace. Each role includes the permissions of the previous ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// Watches sessions.
    Viewer,
    /// Sends messages, answers waits and cancels turns.
    Controller,
    /// Has full access, including files, configuration and processes.
    Owner,
}

impl Role {
    /// Every role, the weakest first.
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Controller, Self::Owner];
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Viewer => "viewer",
            Self::Controller => "controller",
            Self::Owner => "owner",
        })
    }
}

/// The text is not a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a role is `viewer`, `controller` or `owner`")]
pub struct UnknownRole;

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        Self::ALL.into_iter().find(|role| role.to_string() == text).ok_or(UnknownRole)
    }
}

/// The response of `GET /api/runtimes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeList {
    /// Every runtime that the caller may see, sorted by name.
    pub items: Vec<Runtime>,
    /// Always `null`: the list is complete.
    pub next_cursor: Option<String>,
}

/// A daemon that a hub knows. The hub never reveals its address and token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Runtime {
    /// The id.
    pub id: RuntimeId,
    /// The workspace that it belongs to.
    pub workspace: WorkspaceName,
    /// How the hub connects to it.
    pub kind: RuntimeKind,
    /// Whether it is reachable; `null` if the hub did not check.
    #[serde(alias = "isUp")]
    pub is_reachable: Option<bool>,
    /// When it was added.
    pub added_at: Timestamp,
}

/// How a hub connects to a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RuntimeKind {
    /// The hub connects to its address.
    Remote,
    /// It runs in the process of the hub.
    Local,
    /// The daemon connects to the hub.
    Joined,
}

/// The body of `POST /api/runtimes/join-tokens`, which creates a token for a daemon that connects to the hub.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateJoinTokenRequest {
    /// The id of the runtime.
    pub id: RuntimeId,
    /// The workspace that it belongs to.
    #[serde(default)]
    pub workspace: WorkspaceName,
    /// When the token expires if no daemon has joined with it; after 24 hours if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// The header in which a daemon that joins a hub names itself.
pub const DAEMON_ID: &str = "tombolo-daemon-id";

/// The token that a daemon joins a hub with.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JoinToken {
    /// The only runtime that it is valid for.
    pub id: RuntimeId,
    /// The token; no other response contains it.
    pub token: String,
    /// When it expires if no daemon has joined with it. The first daemon that does is the only one that can use it.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
}

/// Leaves out the token.
impl std::fmt::Debug for JoinToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JoinToken").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The body of `POST /api/runtimes`, which adds a daemon.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddRuntimeRequest {
    /// The id of the runtime.
    pub id: RuntimeId,
    /// The workspace that it belongs to; `default` if left out.
    #[serde(default)]
    pub workspace: WorkspaceName,
    /// The URL of the daemon, such as `http://127.0.0.1:2468`. No response contains it.
    pub endpoint: String,
    /// The token of the daemon, if it requires one. No response contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// Leaves out the URL and the token.
impl fmt::Debug for AddRuntimeRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddRuntimeRequest").field("id", &self.id).finish_non_exhaustive()
    }
}

crate::schema::wire_types! {
    received: CreateJoinTokenRequest, AddRuntimeRequest;
    sent: RuntimeList, Runtime, JoinToken;
}
