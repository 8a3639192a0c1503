//! `/v1/agents`: the programs that can be run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::AgentName;

/// The answer of `GET /v1/agents`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentList {
    /// Every known agent, by name.
    pub items: Vec<Agent>,
    /// Always `null`: the list is whole.
    pub next_cursor: Option<String>,
}

/// One agent as this daemon knows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// Its id in every request.
    pub id: AgentName,
    /// Its name for people.
    pub name: String,
    /// What it is.
    pub description: Option<String>,
    /// What people should know before they choose it.
    pub note: Option<String>,
    /// Whether it can be started now.
    pub installed: bool,
    /// The version that is installed, where it can be told.
    pub version: Option<String>,
    /// The program that would be started.
    pub path: Option<String>,
    /// Where it comes from.
    pub source: AgentSource,
    /// How it can be installed here, in the order in which it is tried; empty if its owner installs it.
    pub installable_from: Vec<String>,
    /// Whether credentials for it were found; never which.
    pub credentials_found: bool,
    /// The protocol that its own program speaks; `capabilities.acp` says whether it can be driven by ACP too.
    pub protocol: AgentProtocol,
    /// What it can do.
    pub capabilities: AgentCapabilities,
    /// Instances of it that run now.
    pub running_instances: u64,
}

/// Where an agent comes from, and so how it is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AgentSource {
    /// Part of this program; nothing to install.
    BuiltIn,
    /// A row of the daemon's own catalog; installed when it is needed.
    Catalog,
    /// A row of the ACP registry; installed when it is needed.
    Registry,
    /// Defined in the configuration file; installed by its owner.
    User,
}

/// The protocol that an agent speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum AgentProtocol {
    /// Agent Client Protocol: JSON-RPC, one message a line.
    Acp,
    /// Claude Code's stream of JSON with its control requests.
    Claude,
    /// Codex's app server: JSON-RPC, one message a line.
    Codex,
    /// OpenCode's HTTP server.
    Opencode,
    /// Amp's stream of JSON.
    Amp,
}

/// What an agent can do; what is not said it cannot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentCapabilities {
    /// It can be driven through `/v1/acp`.
    pub acp: bool,
    /// It asks before it does something.
    pub permissions: bool,
    /// It asks questions.
    pub questions: bool,
    /// It shows a plan and waits for its approval.
    pub plans: bool,
    /// It can be told more while it works.
    pub steering: bool,
    /// It can go on with a session of an earlier process.
    pub resume: bool,
    /// It can branch off a session.
    pub fork: bool,
}

/// The answer of `GET /v1/agents/{agent}/modes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentModeList {
    /// What the agent can be told to be.
    pub modes: Vec<AgentMode>,
}

/// One way for an agent to behave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentMode {
    /// Its id in requests.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// What it does.
    pub description: String,
}

/// The answer of `GET /v1/agents/{agent}/models`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentModelList {
    /// The models that the agent can use.
    pub models: Vec<AgentModel>,
}

/// One model of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentModel {
    /// Its id in requests.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Variants of it, such as how long it may think.
    pub variants: Vec<String>,
}

/// `POST /v1/agents/{agent}/install`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstallAgentRequest {
    /// The version to install: `latest` for the newest, and the one that was tested if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Install again what is installed already.
    #[serde(default)]
    pub reinstall: bool,
}

/// What an installation came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentInstalled {
    /// The agent.
    pub agent: AgentName,
    /// Whether it was there already, so that nothing was done.
    pub already_installed: bool,
    /// The version that is there now, where it can be told.
    pub version: Option<String>,
    /// The program that would be started.
    pub path: Option<String>,
}

/// One event of an installation as it is followed: `event: progress`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstallProgress {
    /// The agent that is being installed.
    pub agent: AgentName,
    /// The part of it that this is about.
    pub component: String,
    /// What is being done.
    pub phase: InstallPhase,
    /// Where it comes from, once that is known.
    pub source: Option<String>,
    /// How many bytes have come.
    pub bytes: u64,
    /// How many bytes there are, where that is known.
    pub total_bytes: Option<u64>,
}

/// What is being done to install something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum InstallPhase {
    /// Somebody else installs it, or what it needs is not there yet.
    Waiting,
    /// Finding out what to fetch.
    Resolving,
    /// Fetching it.
    Downloading,
    /// Checking that it is what it should be.
    Verifying,
    /// Taking it out of its archive.
    Unpacking,
    /// Another program installs it, such as npm.
    Installing,
    /// It is there.
    Done,
    /// It could not be installed.
    Failed,
}
