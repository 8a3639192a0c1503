//! What a device offers, family by family.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Family;
use crate::json_object;

/// What a device offers. What is left out is not offered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DeviceCapabilities")]
pub struct Capabilities {
    /// Directories.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "json_object::optional")]
    #[schemars(with = "Option<Fileops>")]
    pub fileops: Option<Fileops>,
    /// Commands.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "json_object::optional")]
    #[schemars(with = "Option<Shell>")]
    pub shell: Option<Shell>,
    /// Tools.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "json_object::optional")]
    #[schemars(with = "Option<Tools>")]
    pub tools: Option<Tools>,
    /// Things that outlive a request.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "json_object::optional")]
    #[schemars(with = "Option<Switch>")]
    pub resources: Option<Switch>,
    /// Files for the runtime's store.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "json_object::optional")]
    #[schemars(with = "Option<Switch>")]
    pub artifacts: Option<Switch>,
    /// The desktop.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "json_object::optional")]
    #[schemars(with = "Option<Computer>")]
    pub computer: Option<Computer>,
    /// How much of a stream it takes at once; none if it knows no credit.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "json_object::optional")]
    #[schemars(with = "Option<Flow>")]
    pub flow: Option<Flow>,
    /// Names of what it knows beyond the protocol, such as `file.move`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
}

impl Capabilities {
    /// The families that are on.
    pub fn families(&self) -> BTreeSet<Family> {
        let is_on = |family: &Family| match family {
            Family::Fileops => self.fileops.as_ref().is_some_and(|it| it.enabled),
            Family::Shell => self.shell.as_ref().is_some_and(|it| it.enabled),
            Family::Tools => self.tools.as_ref().is_some_and(|it| it.enabled),
            Family::Resources => self.resources.is_some_and(|it| it.enabled),
            Family::Artifacts => self.artifacts.is_some_and(|it| it.enabled),
            Family::Computer => self.computer.as_ref().is_some_and(|it| it.enabled),
        };
        Family::ALL.into_iter().filter(is_on).collect()
    }
}

/// Directories.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fileops {
    /// Whether it is on.
    pub enabled: bool,
    /// Which.
    #[serde(default)]
    pub roots: Vec<OfferedRoot>,
}

/// A directory, as a device says it: nothing about it is checked yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OfferedRoot {
    /// Its name.
    pub root_id: String,
    /// What its owner calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Where a model sees it.
    pub virtual_path: String,
    /// `ro` or `rw`.
    pub mode: String,
}

/// Commands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Shell {
    /// Whether it is on.
    pub enabled: bool,
    /// What they run in, such as `sandboxed_local_shell`; it is true.
    pub runtime: String,
    /// Whether a terminal can be had.
    #[serde(default)]
    pub interactive: bool,
}

/// Tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tools {
    /// Whether it is on.
    pub enabled: bool,
    /// How many there are now.
    #[serde(default)]
    pub tool_count: u64,
}

/// A family of which nothing more is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Switch {
    /// Whether it is on.
    pub enabled: bool,
}

/// The desktop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Computer {
    /// Whether it is on.
    pub enabled: bool,
    /// `linux`, `macos` or `windows`.
    pub platform: String,
    /// Whether it can be seen.
    #[serde(default)]
    pub screenshots: bool,
    /// Whether the tree of what is on it can be read.
    #[serde(default)]
    pub accessibility_tree: bool,
    /// Whether an element can be acted on.
    #[serde(default)]
    pub semantic_actions: bool,
    /// Whether a place can be acted on.
    #[serde(default)]
    pub coordinate_input: bool,
}

/// How much of the stream of each request this side takes before it says `stream.credit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// Bytes of stream messages, each counted whole, that the peer may send for a request without further credit.
    pub window_bytes: u64,
}
