//! `file.watch`: what changes on the disk.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::relay::{RelayPath, RootId};

/// Watches a directory or file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WatchFiles {
    /// The root.
    pub root_id: RootId,
    /// The path.
    pub path: RelayPath,
    /// Whether what is below its directories is watched too.
    #[serde(default)]
    pub recursive: bool,
}

/// It is watched until the resource is disposed of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Watching {
    /// The resource.
    pub watch_id: String,
}

/// Something changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The root.
    pub root_id: RootId,
    /// The path.
    pub path: RelayPath,
    /// What happened to it.
    pub kind: ChangeKind,
    /// What it was called before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_path: Option<RelayPath>,
    /// When.
    pub ts: Timestamp,
}

/// What happened to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Created,
    /// It is different.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another name.
    Renamed,
    /// Too much happened to tell: look at everything below it again.
    #[serde(other)]
    Unknown,
}
