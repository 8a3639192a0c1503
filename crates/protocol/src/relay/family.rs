//! What methods are about.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// What methods are about, which is offered, granted and accepted as one. `browser` is kept for later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Files: `file.*`.
    Fileops,
    /// Commands: `shell.*`.
    Shell,
    /// Tools: `tool.*`.
    Tools,
    /// Things that outlive a request: `resource.*`.
    Resources,
    /// Files for the runtime's store: `artifact.*`.
    Artifacts,
    /// The desktop: `computer.*`.
    Computer,
}

impl Family {
    /// Every family.
    pub const ALL: [Self; 6] =
        [Self::Fileops, Self::Shell, Self::Tools, Self::Resources, Self::Artifacts, Self::Computer];

    /// Its name.
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

/// Those families of a list that are known, as a newer peer may know more.
pub(super) fn known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Family>, D::Error> {
    let said: Vec<Value> = Vec::deserialize(deserializer)?;
    Ok(said.iter().filter_map(|family| Family::deserialize(family).ok()).collect())
}
