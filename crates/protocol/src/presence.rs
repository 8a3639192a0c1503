//! Presence: the viewers and recent drivers of a worker.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::UserName;

/// The viewers and recent drivers of a worker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerPresence {
    /// The users who watch it, sorted by name.
    pub watchers: Vec<PresentViewer>,
    /// The users who sent, answered or cancelled something in the last minutes, most recent first.
    pub drivers: Vec<RecentDriver>,
}

/// A viewer of the worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PresentViewer {
    /// The user.
    pub user: UserName,
    /// The number of connections.
    pub sockets: u64,
    /// When the first connection was opened.
    #[serde(alias = "sinceAt")]
    pub connected_at: Timestamp,
}

/// A user who recently drove the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecentDriver {
    /// The user.
    pub user: UserName,
    /// When the user last acted.
    #[serde(alias = "lastAt")]
    pub last_active_at: Timestamp,
}

crate::schema::wire_types! {
    sent: WorkerPresence;
}
