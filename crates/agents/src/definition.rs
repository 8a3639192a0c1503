//! One agent: what it is and how it is started.

use std::{collections::BTreeMap, path::PathBuf};

use protocol::{
    AgentName,
    agents::{Mode, Model, Protocol, Source},
};
use serde::Deserialize;

use crate::SearchPath;

/// Why an agent cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its program is not there.
    #[error("agent `{agent}` is not installed: there is no program `{program}`")]
    NotInstalled {
        /// The agent.
        agent: AgentName,
        /// What was looked for.
        program: String,
    },
}

/// An agent as a user defines it: `[agents.NAME]` in the configuration file.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UserAgent {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Arguments after those of `command`.
    #[serde(default)]
    pub args: Vec<String>,
    /// Variables added to its environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The protocol that it speaks; ACP if left out.
    #[serde(default = "acp")]
    pub protocol: Protocol,
    /// Its name for people; its id if left out.
    pub name: Option<String>,
}

fn acp() -> Protocol {
    Protocol::Acp
}

/// How a program is started.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The program, as a path or as a name to look up.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables added to its environment.
    pub env: BTreeMap<String, String>,
}

/// One agent: what it is and how it is started.
#[derive(Debug, Clone)]
pub struct Definition {
    /// Its id.
    pub id: AgentName,
    /// Its name for people.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
    /// The protocol that it speaks.
    pub protocol: Protocol,
    /// How it is started.
    pub launch: Launch,
    /// Its version, where it is known without asking it.
    pub version: Option<String>,
    /// The ways it can behave.
    pub modes: Vec<Mode>,
    /// The models it can use.
    pub models: Vec<Model>,
}

impl Definition {
    /// The program that would be started, if it is there.
    pub fn program(&self, path: &SearchPath) -> Option<PathBuf> {
        path.find(&self.launch.program)
    }

    /// How to start it now.
    pub fn plan(&self, path: &SearchPath) -> Result<Launch, Error> {
        let Some(program) = self.program(path) else {
            let program = self.launch.program.display().to_string();
            return Err(Error::NotInstalled { agent: self.id.clone(), program });
        };
        Ok(Launch { program, ..self.launch.clone() })
    }
}
