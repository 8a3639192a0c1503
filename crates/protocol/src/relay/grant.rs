//! Grants: what a device may offer to a runtime.

use jiff::Timestamp;
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ApprovalPolicy, ClientId, Family, Root, RootId, RootMode, VirtualPath};
use crate::RuntimeId;

/// Allows a runtime to use capabilities of a device. Everything not granted is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Grant {
    /// Identifies the grant.
    pub grant_id: String,
    /// The device.
    pub client_id: ClientId,
    /// The runtime.
    pub runtime_id: RuntimeId,
    /// The workspace or space that the grant is limited to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope_id: Option<String>,
    /// The granted capability families.
    pub capabilities: Vec<CapabilityGrant>,
    /// Time at which the grant expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Time at which the grant was created.
    pub created_at: Timestamp,
}

/// A granted capability family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityGrant {
    /// The family.
    pub capability: Family,
    /// Whether the family is granted.
    pub enabled: bool,
    /// The policy that restricts its use further.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy_id: Option<String>,
    /// The granted roots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roots: Option<Vec<Root>>,
    /// Restrictions on shell commands. An addition to the requirement document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell: Option<ShellGrant>,
}

/// Restrictions on shell commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShellGrant {
    /// Directories in which commands may run; by default all granted roots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Vec<VirtualPath>>,
    /// Names of the environment variables that commands may have, set by the caller or by the owner of the device.
    #[serde(default)]
    pub env: Vec<String>,
    /// Network access of commands.
    #[serde(default)]
    pub network: CommandNetwork,
    /// The approval that a command needs.
    pub approval_policy: ApprovalPolicy,
    /// Maximum run time of a command in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_max_ms: Option<u64>,
    /// Maximum output of a command in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_limit_bytes: Option<u64>,
    /// Whether commands may run on a device without a sandbox.
    #[serde(default)]
    pub unsandboxed: bool,
}

/// Limits of a single request, added by the relay server. They can only narrow the capabilities that the device
/// lends. A request without limits may use everything that was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestLimits {
    /// Usable roots, with their effective modes.
    pub roots: Vec<Root>,
    /// Restrictions on shell commands; absent if commands are not allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<ShellGrant>,
}

impl RequestLimits {
    /// Access mode of a root, or `None` if the request must not use the root.
    pub fn mode(&self, root: &RootId) -> Option<RootMode> {
        self.roots.iter().find(|granted| granted.root_id == *root).map(|granted| granted.mode)
    }
}

/// Network access of commands. A lesser value is stricter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(transform = list_old_spelling)]
pub enum CommandNetwork {
    /// No network access.
    #[default]
    None,
    /// Other machines, through an HTTP proxy of the device that refuses the device's own addresses.
    #[serde(alias = "full")]
    Proxy,
    /// Everything that the device itself can reach, including services on its loopback addresses.
    Host,
}

/// Clients of the last release send `full`, so the schema lists it beside the names of the variants.
fn list_old_spelling(schema: &mut Schema) {
    if let Some(values) = schema.get_mut("oneOf").and_then(Value::as_array_mut) {
        let description = "Deprecated: read as `proxy`, and never sent.";
        values.push(json!({ "type": "string", "const": "full", "description": description }));
    }
}

crate::schema::wire_types! {
    sent: Grant;
}
