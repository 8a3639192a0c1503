//! The configuration of sessions.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf, time::Duration};

use futures_util::future::BoxFuture;
use protocol::{
    config::{McpServer, Skill},
    sessions::AgentError,
};

/// The configuration of sessions.
#[derive(Debug, Clone)]
pub struct Config {
    /// The directory of the database, and of the private directories of the sessions.
    pub directory: PathBuf,
    /// The working directory of agents whose session names none.
    pub current_dir: PathBuf,
    /// Our own environment variables, which agents do not inherit.
    pub env_remove: Vec<OsString>,
    /// How long an agent may take to become ready after its process was started.
    pub ready_timeout: Duration,
    /// How long an agent may take to exit before it is killed.
    pub grace: Duration,
    /// How long a wait stays open without an answer; for ever if `None`.
    pub answer_timeout: Option<Duration>,
    /// How long an idle agent keeps running, if it can resume its conversation later.
    pub idle: Duration,
    /// The number of sessions that may exist.
    pub sessions_max: usize,
}

/// Provides the configuration of directories.
pub trait Settings: Send + Sync + 'static {
    /// The MCP servers and skills for agents in `directory`: those configured for it, and the `skills` of the session.
    fn for_directory(
        &self,
        directory: PathBuf,
        skills: BTreeMap<String, Skill>,
    ) -> BoxFuture<'static, DirectorySettings>;
}

/// The configuration of a directory.
#[derive(Debug, Clone, Default)]
pub struct DirectorySettings {
    /// MCP servers, by name.
    pub mcp: BTreeMap<String, McpServer>,
    /// Directories that contain one skill each, by the name of the skill.
    pub skills: BTreeMap<String, PathBuf>,
    /// Configured entries that are not available.
    pub warnings: Vec<AgentError>,
}
