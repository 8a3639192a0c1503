//! Who is there for a worker.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::UserName;

/// Who is there for a worker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkerPresence {
    /// Who watches it, by name.
    pub watchers: Vec<PresentViewer>,
    /// Who sent, answered or cancelled something in the last minutes, the last one first.
    pub drivers: Vec<RecentDriver>,
}

/// Somebody who watches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PresentViewer {
    /// Who.
    pub user: UserName,
    /// On how many sockets.
    pub sockets: u64,
    /// Since when.
    pub since_at: Timestamp,
}

/// Somebody who drives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecentDriver {
    /// Who.
    pub user: UserName,
    /// When they last did something.
    pub last_at: Timestamp,
}
