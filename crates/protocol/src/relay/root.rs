//! Directories that a device lends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RootId, VirtualPath};

/// A directory that a device lends, as it was granted, accepted or bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Root {
    /// Its name.
    pub root_id: RootId,
    /// What its owner calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Where a model sees it.
    pub virtual_path: VirtualPath,
    /// What may be done in it.
    pub mode: Mode,
}

/// What may be done in a root; the lesser is the stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RootMode")]
pub enum Mode {
    /// Only reading.
    Ro,
    /// Reading and writing.
    Rw,
}
