//! How sessions are held.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf, time::Duration};

use futures_util::future::BoxFuture;
use protocol::{
    config::{McpServer, Skill},
    sessions::AgentError,
};

/// How sessions are held.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where they are kept: one file of journals, and a directory for what only the agents read.
    pub directory: PathBuf,
    /// The directory that an agent works in if nothing else is said.
    pub current_dir: PathBuf,
    /// Variables of ours that agents do not inherit.
    pub env_remove: Vec<OsString>,
    /// How long an agent may take to become ready after its process was started.
    pub ready_timeout: Duration,
    /// How long an agent may take to end by itself before it is killed.
    pub grace: Duration,
    /// How long a person may take to answer; for ever if none.
    pub patience: Option<Duration>,
    /// How long an agent that has nothing to do stays, if it can go on later.
    pub idle: Duration,
    /// How many sessions there can be.
    pub sessions_max: usize,
}

/// What is configured for a directory.
pub trait Settings: Send + Sync + 'static {
    /// The MCP servers and the skills, each in a directory of its own, that agents in `directory` are to have: what is
    /// configured there, and the `skills` of the session.
    fn of(
        &self,
        directory: PathBuf,
        skills: BTreeMap<String, Skill>,
    ) -> BoxFuture<'static, DirectorySettings>;
}

/// What agents in a directory are to have.
#[derive(Debug, Clone, Default)]
pub struct DirectorySettings {
    /// MCP servers, by name.
    pub mcp: BTreeMap<String, McpServer>,
    /// Directories that hold one skill each, by its name.
    pub skills: BTreeMap<String, PathBuf>,
    /// What is configured and cannot be had.
    pub warnings: Vec<AgentError>,
}
