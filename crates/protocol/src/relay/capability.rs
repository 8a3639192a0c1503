//! The capabilities that a device offers, by family.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Family;
use crate::json_object;

/// The capabilities that a device offers. An absent family is not offered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceCapabilities {
    /// Files: the roots that the device lends.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "json_object::optional")]
    #[schemars(with = "Option<FileCapability>")]
    pub fileops: Option<FileCapability>,
    /// Shell commands.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "json_object::optional")]
    #[schemars(with = "Option<ShellCapability>")]
    pub shell: Option<ShellCapability>,
    /// Tools.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "json_object::optional")]
    #[schemars(with = "Option<ToolCapability>")]
    pub tools: Option<ToolCapability>,
    /// Provider objects that outlive a request.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "json_object::optional")]
    #[schemars(with = "Option<BasicCapability>")]
    pub resources: Option<BasicCapability>,
    /// Artifact uploads.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "json_object::optional")]
    #[schemars(with = "Option<BasicCapability>")]
    pub artifacts: Option<BasicCapability>,
    /// Desktop control.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "json_object::optional")]
    #[schemars(with = "Option<ComputerCapability>")]
    pub computer: Option<ComputerCapability>,
    /// The device's stream window; absent if the device does not support stream credit.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "json_object::optional")]
    #[schemars(with = "Option<StreamWindow>")]
    pub flow: Option<StreamWindow>,
    /// Protocol extensions that the device supports, such as `file.move`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
}

impl DeviceCapabilities {
    /// Returns the enabled families.
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

/// File access.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileCapability {
    /// Whether the family is enabled.
    pub enabled: bool,
    /// Roots that the device offers.
    #[serde(default)]
    pub roots: Vec<OfferedRoot>,
}

/// A root as the device describes it, not validated yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OfferedRoot {
    /// Identifies the root.
    pub root_id: String,
    /// Display name, chosen by the owner of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Absolute path under which agents see the root.
    pub virtual_path: String,
    /// `ro` or `rw`.
    pub mode: String,
}

/// Shell commands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShellCapability {
    /// Whether the family is enabled.
    pub enabled: bool,
    /// Execution environment of commands, such as `sandboxed_local_shell`. It must be truthful: grants depend on it.
    pub runtime: String,
    /// Whether commands can have a terminal.
    #[serde(default)]
    pub interactive: bool,
}

/// Tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCapability {
    /// Whether the family is enabled.
    pub enabled: bool,
    /// Number of currently registered tools.
    #[serde(default)]
    pub tool_count: u64,
}

/// A family without further properties.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BasicCapability {
    /// Whether the family is enabled.
    pub enabled: bool,
}

/// Desktop control.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComputerCapability {
    /// Whether the family is enabled.
    pub enabled: bool,
    /// `linux`, `macos` or `windows`.
    pub platform: String,
    /// Whether screenshots are supported.
    #[serde(default)]
    pub screenshots: bool,
    /// Whether the accessibility tree can be read.
    #[serde(default)]
    pub accessibility_tree: bool,
    /// Whether actions can address an element of the accessibility tree.
    #[serde(default)]
    pub semantic_actions: bool,
    /// Whether actions can address a screen position.
    #[serde(default)]
    pub coordinate_input: bool,
}

/// Flow control: the window that this side grants for the stream of each request, until it sends `stream.credit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamWindow {
    /// Bytes of stream messages that the peer may send for a request without further credit. Each message counts with
    /// its full length.
    pub window_bytes: u64,
}
