//! Capability families.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// A group of methods that is offered, granted and accepted as a whole. The name `browser` is reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Files and directories: `file.*`.
    Fileops,
    /// Shell commands: `shell.*`.
    Shell,
    /// Tools: `tool.*`.
    Tools,
    /// Provider objects that outlive a request: `resource.*`.
    Resources,
    /// Artifact uploads: `artifact.*`.
    Artifacts,
    /// Desktop control: `computer.*`.
    Computer,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 6] =
        [Self::Fileops, Self::Shell, Self::Tools, Self::Resources, Self::Artifacts, Self::Computer];

    /// Name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fileops => "fileops",
            Self::Shell => "shell",
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Artifacts => "artifacts",
            Self::Computer => "computer",
        }
    }
}

/// Deserialises a list of families and skips unknown ones, which a newer peer may send.
pub(super) fn known_families<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Family>, D::Error> {
    let names: Vec<Value> = Vec::deserialize(deserializer)?;
    Ok(names.iter().filter_map(|family| Family::deserialize(family).ok()).collect())
}
