//! `tombolo api sessions create`: the options of a new session.

use std::{collections::BTreeMap, path::PathBuf};

use clap::Args;
use protocol::{
    AgentName, SessionId,
    config::{McpServer, Skill},
    sessions::{CreateSessionRequest, PermissionMode},
};
use serde::de::DeserializeOwned;
use tokio::io::AsyncReadExt;

use crate::{
    api::input::{self, EnvironmentVariable},
    exit::{CommandError, local},
};

/// Longest model API key that is read from a file.
const API_KEY_BYTES_MAX: u64 = 64 << 10;

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Id of the new session; you choose it
    id: SessionId,
    /// Run this agent
    #[arg(long)]
    agent: AgentName,
    /// Start the agent in this mode: build, plan, or another that `tombolo api agents modes` lists
    #[arg(long, value_name = "MODE", default_value = "build")]
    mode: String,
    /// Set what the agent may do: default (asks first), plan (only reads until its plan is approved) or bypass (never asks)
    #[arg(long, value_name = "MODE", default_value = "default", value_parser = permission_mode)]
    permission_mode: PermissionMode,
    /// Use this model [default: the agent's choice]
    #[arg(long)]
    model: Option<String>,
    /// Use this variant of the model, for example its reasoning effort
    #[arg(long)]
    variant: Option<String>,
    /// Read the model API key of the agent from this file; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    agent_token_file: Option<PathBuf>,
    /// Check at once that the model accepts the API key
    #[arg(long)]
    validate_token: bool,
    /// Install this version of the agent if it is missing
    #[arg(long, value_name = "VERSION")]
    agent_version: Option<String>,
    /// Run the agent in this directory, an absolute path in the sandbox
    #[arg(long, short)]
    directory: Option<String>,
    /// Add a variable to the agent's environment, by default with the value that it has here; may be repeated
    #[arg(long, value_name = input::VARIABLE)]
    env: Vec<EnvironmentVariable>,
    /// Add MCP servers to those of the directory: a JSON object of servers by name
    #[arg(long, value_name = "JSON")]
    mcp: Option<String>,
    /// Add skills to those of the directory: a JSON object of entries by name
    #[arg(long, value_name = "JSON")]
    skills: Option<String>,
    /// Show this title to people
    #[arg(long)]
    title: Option<String>,
}

impl CreateArgs {
    /// Reads the files that the options name into a request.
    pub(super) async fn into_request(self) -> Result<(SessionId, CreateSessionRequest), CommandError> {
        let create = CreateSessionRequest {
            agent: self.agent,
            agent_mode: self.mode,
            permission_mode: self.permission_mode,
            model: self.model,
            variant: self.variant,
            token: match self.agent_token_file {
                Some(file) => Some(read_api_key(&file).await?),
                None => None,
            },
            validate_token: self.validate_token,
            agent_version: self.agent_version,
            directory: self.directory,
            env: EnvironmentVariable::pairs(&self.env),
            mcp: parse_entries::<McpServer>("--mcp", self.mcp)?,
            skills: parse_entries::<Skill>("--skills", self.skills)?,
            title: self.title,
        };
        Ok((self.id, create))
    }
}

async fn read_api_key(file: &std::path::Path) -> Result<String, CommandError> {
    let mut text = String::new();
    let mut reader = input::reader(Some(file)).await?.take(API_KEY_BYTES_MAX);
    let read = reader.read_to_string(&mut text).await;
    read.map_err(|error| local(&format!("read the API key from `{}`", file.display()), error))?;
    Ok(text.trim().to_owned())
}

fn parse_entries<T: DeserializeOwned>(
    option: &str,
    json: Option<String>,
) -> Result<BTreeMap<String, T>, CommandError> {
    let Some(json) = json else { return Ok(BTreeMap::new()) };
    serde_json::from_str(&json).map_err(|error| {
        CommandError::Usage(format!("{option} is not a JSON object of valid entries: {error}"))
    })
}

/// Parses a permission mode.
pub(crate) fn permission_mode(text: &str) -> Result<PermissionMode, &'static str> {
    serde_json::from_value(text.into()).map_err(|_| "use default, plan or bypass")
}
