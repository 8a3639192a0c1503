//! `/api`: what a hub says of the runtimes that it knows.

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RuntimeId, WorkspaceName};

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

impl Role {
    /// Every role, the least first.
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

/// A word that names no role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a role is `viewer`, `controller` or `owner`")]
pub struct UnknownRole;

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        Self::ALL.into_iter().find(|role| role.to_string() == text).ok_or(UnknownRole)
    }
}

/// The answer of `GET /api/runtimes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeList {
    /// Every runtime that the caller may see, by name.
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
    /// The workspace that it belongs to.
    pub workspace: WorkspaceName,
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
pub struct CreateJoinTokenRequest {
    /// The name that it gets.
    pub id: RuntimeId,
    /// The workspace that it belongs to.
    #[serde(default)]
    pub workspace: WorkspaceName,
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
pub struct AddRuntimeRequest {
    /// The name that it gets.
    pub id: RuntimeId,
    /// The workspace that it belongs to; `default` if left out.
    #[serde(default)]
    pub workspace: WorkspaceName,
    /// Where it is, such as `http://127.0.0.1:2468`; nobody is told.
    pub endpoint: String,
    /// Its token, if it needs one; nobody is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// Neither where it is nor its token is shown.
impl fmt::Debug for AddRuntimeRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddRuntimeRequest").field("id", &self.id).finish_non_exhaustive()
    }
}
