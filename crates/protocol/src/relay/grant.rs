//! What a device may offer and a runtime may use.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Approval, ClientId, Family, Mode, Root, RootId, VirtualPath};
use crate::RuntimeId;

/// What a device may offer and a runtime may use. Nothing else is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Grant {
    /// Its name.
    pub grant_id: String,
    /// The device.
    pub client_id: ClientId,
    /// The runtime.
    pub runtime_id: RuntimeId,
    /// The workspace or space, if it is for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope_id: Option<String>,
    /// What it allows.
    pub capabilities: Vec<CapabilityGrant>,
    /// When it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When it was given.
    pub created_at: Timestamp,
}

/// What is allowed of a family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityGrant {
    /// The family.
    pub capability: Family,
    /// Whether anything is.
    pub enabled: bool,
    /// The policy that says more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_id: Option<String>,
    /// The directories, each by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roots: Option<Vec<Root>>,
    /// What commands may do; not of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell: Option<ShellGrant>,
}

/// What commands may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShellGrant {
    /// Where they may run; in every root that is granted if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Vec<VirtualPath>>,
    /// The variables of the environment that they may have.
    #[serde(default)]
    pub env: Vec<String>,
    /// Whether they reach the network.
    #[serde(default)]
    pub network: Network,
    /// Who must be asked before.
    pub approval_policy: Approval,
    /// How long each may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_max_ms: Option<u64>,
    /// How much each may write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_limit_bytes: Option<u64>,
    /// Whether a shell without a sandbox will do.
    #[serde(default)]
    pub unsandboxed: bool,
}

/// What a request may touch of a device, said by the relay server with the request. What a device lends is what it lends: terms
/// only take away. Without them a request may touch whatever was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Terms {
    /// The directories, each with what may be done in it.
    pub roots: Vec<Root>,
    /// What commands may do; none if there may be no commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<ShellGrant>,
}

impl Terms {
    /// What may be done in a root; none if it is not among them.
    pub fn mode(&self, root: &RootId) -> Option<Mode> {
        self.roots.iter().find(|granted| granted.root_id == *root).map(|granted| granted.mode)
    }
}

/// Whether commands reach the network; the lesser is the stricter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// They do not.
    #[default]
    None,
    /// They do.
    Full,
}
