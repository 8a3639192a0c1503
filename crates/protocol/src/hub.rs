//! `/api`: what a hub says of the runtimes that it knows.

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RuntimeId, Workspace};

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
    pub workspace: Workspace,
    /// Whether it answers; none where it was not asked.
    pub is_up: Option<bool>,
    /// Since when the hub knows it.
    pub added_at: Timestamp,
}

/// `POST /api/runtimes`: a daemon that the hub is to know.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddRuntime {
    /// The name that it gets.
    pub id: RuntimeId,
    /// The workspace that it belongs to; `default` if left out.
    #[serde(default)]
    pub workspace: Workspace,
    /// Where it is, such as `http://127.0.0.1:2468`; nobody is told.
    pub endpoint: String,
    /// Its token, if it needs one; nobody is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// Neither where it is nor its token is shown.
impl fmt::Debug for AddRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddRuntime").field("id", &self.id).finish_non_exhaustive()
    }
}
