//! Roots: directories that a device lends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RootId, VirtualPath};

/// A directory that a device lends, as granted, accepted or bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Root {
    /// Identifies the root.
    pub root_id: RootId,
    /// Display name, chosen by the owner of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Absolute path under which agents see the root.
    pub virtual_path: VirtualPath,
    /// Access mode.
    pub mode: RootMode,
}

/// Access mode of a root. A lesser value is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RootMode {
    /// Read only.
    Ro,
    /// Read and write.
    Rw,
}
