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
    /// Whether it can be started now.
    pub installed: bool,
    /// The version that is installed, where it can be told.
    pub version: Option<String>,
    /// The program that would be started.
    pub path: Option<String>,
    /// Where it comes from.
    pub source: Source,
    /// Whether credentials for it were found; never which.
    pub credentials_found: bool,
    /// The protocol that it speaks on its standard streams.
    pub protocol: Protocol,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Instances of it that run now.
    pub running_instances: u64,
}

/// Where an agent comes from, and so how it is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    /// Part of this program; nothing to install.
    BuiltIn,
    /// Defined in the configuration file; installed by its owner.
    User,
}

/// The protocol that an agent speaks on its standard streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Protocol {
    /// Agent Client Protocol: JSON-RPC, one message a line.
    Acp,
}

/// What an agent can do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// It can be driven through `/v1/acp`.
    pub acp: bool,
}

/// The answer of `GET /v1/agents/{agent}/modes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModeList {
    /// What the agent can be told to be.
    pub modes: Vec<Mode>,
}

/// One way for an agent to behave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Mode {
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
pub struct ModelList {
    /// The models that the agent can use.
    pub models: Vec<Model>,
}

/// One model of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Model {
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
pub struct Install {
    /// The version to install; the newest if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Install again what is installed already.
    #[serde(default)]
    pub reinstall: bool,
}

/// What an installation came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Installed {
    /// The agent.
    pub agent: AgentName,
    /// Whether it was there already, so that nothing was done.
    pub already_installed: bool,
    /// The version that is there now, where it can be told.
    pub version: Option<String>,
    /// The program that would be started.
    pub path: Option<String>,
}
