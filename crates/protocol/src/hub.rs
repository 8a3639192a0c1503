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
