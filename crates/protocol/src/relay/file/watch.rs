//! `file.watch`: notifications about file changes.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::relay::{RelayPath, RootId};

/// Parameters of `file.watch`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WatchFiles {
    /// The root.
    pub root_id: RootId,
    /// Path of the file or directory.
    pub path: RelayPath,
    /// Watch subdirectories as well.
    #[serde(default)]
    pub recursive: bool,
}

/// A started watch. It ends when its resource is disposed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WatchStarted {
    /// Resource id of the watch.
    pub watch_id: String,
}

/// A change of a file or directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WatchedChange {
    /// The root.
    pub root_id: RootId,
    /// Path of the file or directory.
    pub path: RelayPath,
    /// Kind of change.
    pub kind: ChangeKind,
    /// Previous path, after a rename.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_path: Option<RelayPath>,
    /// Time of the change.
    pub ts: Timestamp,
}

/// Kind of file change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// The path was created.
    Created,
    /// The path was modified.
    Modified,
    /// The path was deleted.
    Deleted,
    /// The path was renamed.
    Renamed,
    /// Individual changes were lost, or this version does not know the kind. Rescan everything below the path.
    #[serde(other)]
    Unknown,
}
