//! Options of a session, as far as its adapter needs them.

use std::{collections::BTreeMap, path::PathBuf};

use protocol::{agents::AgentMode, config::McpServer, sessions::PermissionMode};
use secrecy::SecretString;

/// Options of a session, as far as its adapter needs them.
#[derive(Debug, Clone)]
pub struct Options {
    /// Prefix of the ids of messages that the agent does not name. It differs for each process of the session.
    pub run: String,
    /// The directory in which the agent works.
    pub directory: PathBuf,
    /// A private directory of the session, for files that only the agent reads.
    pub private: PathBuf,
    /// The id of the mode in which the agent works.
    pub agent_mode: String,
    /// The restriction on the agent's tools.
    pub permission_mode: PermissionMode,
    /// The model.
    pub model: Option<String>,
    /// The variant of the model.
    pub variant: Option<String>,
    /// The key for the model's provider, from the session or a variable, for agents that read none from their environment.
    pub token: Option<SecretString>,
    /// The agent's own name of the session that it resumes.
    pub resume: Option<String>,
    /// The MCP servers that the agent may use, by name.
    pub mcp: BTreeMap<String, McpServer>,
    /// Directories that hold one skill each, by the name of the skill.
    pub skills: BTreeMap<String, PathBuf>,
    /// The modes of the agent in the catalog, for a protocol in which the agent cannot list them.
    pub modes: Vec<AgentMode>,
    /// Whether to list the agent's models although none is chosen.
    pub asks_models: bool,
}
