//! Wire types of `/v1/agents`: which agents exist, and their installation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::AgentName;

/// The response of `GET /v1/agents`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentList {
    /// Every known agent, sorted by name.
    pub items: Vec<Agent>,
    /// Always `null`: the list is complete.
    pub next_cursor: Option<String>,
}

/// An agent and its installation on this daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// The id, for requests.
    pub id: AgentName,
    /// The name for people.
    pub name: String,
    /// The description.
    pub description: Option<String>,
    /// A remark for people who choose an agent.
    pub note: Option<String>,
    /// Whether it is installed.
    pub installed: bool,
    /// The installed version, where known.
    pub version: Option<String>,
    /// The path of its program.
    pub path: Option<String>,
    /// Whether everything that Tombolo installed for it was verified with checksums; `null` if Tombolo installed nothing.
    pub verified: Option<bool>,
    /// The origin of its definition.
    pub source: AgentSource,
    /// The ways to install it here, in the order in which they are tried; empty if only its owner can.
    pub installable_from: Vec<String>,
    /// Whether credentials for it were found. They are never included.
    pub credentials_found: bool,
    /// The native protocol of its program; `capabilities.acp` is set if it supports ACP as well.
    pub protocol: AgentProtocol,
    /// The features that it supports.
    pub capabilities: AgentCapabilities,
    /// The number of its running ACP instances.
    pub running_instances: u64,
    /// The number of sessions whose agent is running.
    #[serde(default)]
    pub running_sessions: u64,
}

/// The origin of an agent's definition, which determines how it is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AgentSource {
    /// Built into Tombolo; nothing to install.
    BuiltIn,
    /// Listed in Tombolo's catalog; installed on demand.
    Catalog,
    /// Listed in the ACP registry; installed on demand.
    Registry,
    /// Defined in the configuration file; installed by its owner.
    User,
}

/// The native protocol of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AgentProtocol {
    /// Agent Client Protocol: JSON-RPC, one message a line.
    Acp,
    /// Claude Code's stream-json with control requests.
    Claude,
    /// Codex's app server: JSON-RPC, one message a line.
    Codex,
    /// OpenCode's HTTP server.
    Opencode,
    /// Amp's stream-json.
    Amp,
}

/// The features that an agent supports; `null` for a feature of which Tombolo does not know whether the agent supports it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentCapabilities {
    /// Usable through `/v1/acp`.
    pub acp: bool,
    /// Asks for permission before it uses a tool.
    pub permissions: Option<bool>,
    /// Asks questions.
    pub questions: Option<bool>,
    /// Shows a plan and waits for approval.
    pub plans: Option<bool>,
    /// Accepts messages within a running turn.
    pub steering: Option<bool>,
    /// Resumes a session in a new process.
    pub resume: Option<bool>,
    /// Forks a session.
    pub fork: Option<bool>,
    /// Uses MCP servers.
    pub mcp: Option<bool>,
}

/// The response of `GET /v1/agents/{agent}/modes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentModeList {
    /// The modes that a session accepts as its `agentMode`.
    pub modes: Vec<AgentMode>,
    /// The origin of the list.
    #[serde(default)]
    pub source: OfferSource,
}

/// The origin of a list of modes or models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OfferSource {
    /// The installed version of the agent, or the protocol that Tombolo speaks with it.
    Agent,
    /// Tombolo's catalog, because the agent is not installed or could not be asked. The agent may offer others.
    #[default]
    Catalog,
}

/// A mode of an agent: how it behaves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentMode {
    /// The id, for requests.
    pub id: String,
    /// The name for people.
    pub name: String,
    /// The description.
    pub description: String,
}

/// The response of `GET /v1/agents/{agent}/models`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentModelList {
    /// The models that the agent can use.
    pub items: Vec<AgentModel>,
    /// Always `null`: the list is complete.
    pub next_cursor: Option<String>,
    /// The origin of the list.
    #[serde(default)]
    pub source: OfferSource,
}

/// One model of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentModel {
    /// The id, for requests.
    pub id: String,
    /// The name for people.
    pub name: String,
    /// Its variants, such as levels of reasoning effort.
    pub variants: Vec<String>,
}

/// The body of `POST /v1/agents/{agent}/install`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstallAgentRequest {
    /// The version to install: `latest` for the newest; the version in the catalog if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether to install even if it is installed already. Everything is downloaded again.
    #[serde(default)]
    pub reinstall: bool,
    /// Whether to install files that have no checksum to verify them with. Without this the installation fails.
    // Older daemons reject unknown fields, so it is only sent if it is set.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_unverified: bool,
}

/// The response of `POST /v1/agents/{agent}/install`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentInstalled {
    /// The agent.
    pub agent: AgentName,
    /// Whether it was installed before, so that nothing was done.
    pub already_installed: bool,
    /// The installed version, where known.
    pub version: Option<String>,
    /// The path of its program.
    pub path: Option<String>,
    /// Whether everything that Tombolo installed for it was verified with checksums; `null` if Tombolo installed nothing.
    pub verified: Option<bool>,
    /// The components that could not be installed. The agent works without them, but not in every way: without its ACP adapter
    /// only in sessions, without its own program only through `/v1/acp`.
    #[serde(default)]
    pub failed: Vec<FailedComponent>,
}

/// A component of an agent that could not be installed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailedComponent {
    /// The component.
    pub component: String,
    /// The cause.
    pub reason: String,
}

/// The data of a `progress` event while an installation is followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstallProgress {
    /// The agent.
    pub agent: AgentName,
    /// The component that is being installed.
    pub component: String,
    /// The current phase.
    pub phase: InstallPhase,
    /// The source, once known.
    pub source: Option<String>,
    /// The number of bytes received.
    pub bytes: u64,
    /// The size in bytes, where known.
    pub total_bytes: Option<u64>,
}

/// A phase of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum InstallPhase {
    /// Waiting for another installation of the same component, or for a dependency.
    Waiting,
    /// Finding out what to download.
    Resolving,
    /// Downloading.
    Downloading,
    /// Verifying the checksum.
    Verifying,
    /// Unpacking the archive.
    Unpacking,
    /// Another program, such as npm, is installing it.
    Installing,
    /// Installed.
    Done,
    /// The installation failed.
    Failed,
}

crate::schema::wire_types! {
    received: InstallAgentRequest;
    sent: AgentList, AgentModeList, AgentModelList, AgentInstalled, InstallProgress;
}
