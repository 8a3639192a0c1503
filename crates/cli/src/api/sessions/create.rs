//! What is said of a new session.

use std::{collections::BTreeMap, path::PathBuf};

use clap::Args;
use protocol::{
    AgentName, SessionId,
    config::{McpServer, Skill},
    sessions::{Create, PermissionMode},
};
use serde::de::DeserializeOwned;
use tokio::io::AsyncReadExt;

use crate::{
    api::input::{self, Variable},
    exit::{Failure, local},
    output::Output,
};

/// The longest key of an agent.
const TOKEN_BYTES_MAX: u64 = 64 << 10;

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Your name for the session
    id: SessionId,
    /// The agent
    #[arg(long)]
    agent: AgentName,
    /// How the agent behaves: build, plan, or what else it offers
    #[arg(long, value_name = "MODE", default_value = "build")]
    mode: String,
    /// What the agent may do: default (it asks), plan (it reads until its plan is approved) or bypass
    #[arg(long, value_name = "MODE", default_value = "default", value_parser = permission_mode)]
    permission_mode: PermissionMode,
    /// The model; the agent's own choice if left out
    #[arg(long)]
    model: Option<String>,
    /// The variant of the model, such as how long it may think
    #[arg(long)]
    variant: Option<String>,
    /// A file that holds the agent's key to its model; `-` for standard input
    #[arg(long, value_name = "FILE")]
    agent_token_file: Option<PathBuf>,
    /// Find out at once whether the agent can use its model
    #[arg(long)]
    validate_token: bool,
    /// The version of the agent to install if it is missing
    #[arg(long, value_name = "VERSION")]
    agent_version: Option<String>,
    /// The directory that the agent works in, as an absolute path in the sandbox
    #[arg(long, short)]
    directory: Option<String>,
    /// A variable added to the agent's environment; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<Variable>,
    /// MCP servers besides those of the directory: an object of them by name
    #[arg(long, value_name = "JSON")]
    mcp: Option<String>,
    /// Skills besides those of the directory: an object of them by name
    #[arg(long, value_name = "JSON")]
    skills: Option<String>,
    /// What the session is called, for people
    #[arg(long)]
    title: Option<String>,
}

impl CreateArgs {
    pub(super) async fn read(self, _: Output) -> Result<(SessionId, Create), Failure> {
        let create = Create {
            agent: self.agent,
            agent_mode: self.mode,
            permission_mode: self.permission_mode,
            model: self.model,
            variant: self.variant,
            token: match self.agent_token_file {
                Some(file) => Some(token(&file).await?),
                None => None,
            },
            validate_token: self.validate_token,
            agent_version: self.agent_version,
            directory: self.directory,
            env: self.env.into_iter().map(|variable| (variable.name, variable.value)).collect(),
            mcp: named::<McpServer>("--mcp", self.mcp)?,
            skills: named::<Skill>("--skills", self.skills)?,
            title: self.title,
        };
        Ok((self.id, create))
    }
}

async fn token(file: &std::path::Path) -> Result<String, Failure> {
    let mut text = String::new();
    let mut reader = input::reader(Some(file)).await?.take(TOKEN_BYTES_MAX);
    let read = reader.read_to_string(&mut text).await;
    read.map_err(|error| local(&format!("read the key from `{}`", file.display()), error))?;
    Ok(text.trim().to_owned())
}

fn named<T: DeserializeOwned>(option: &str, json: Option<String>) -> Result<BTreeMap<String, T>, Failure> {
    let Some(json) = json else { return Ok(BTreeMap::new()) };
    serde_json::from_str(&json).map_err(|error| Failure::Usage(format!("{option}: {error}")))
}

/// A permission mode by its name.
pub(crate) fn permission_mode(text: &str) -> Result<PermissionMode, &'static str> {
    serde_json::from_value(text.into()).map_err(|_| "it must be default, plan or bypass")
}
