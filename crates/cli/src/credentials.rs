//! `tombolo credentials`: the credentials of the agents on this machine.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use agent_catalog::{Catalog, Credential, UserEnvironment};
use anyhow::bail;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use protocol::AgentName;
use secrecy::ExposeSecret;
use serde_json::json;

use crate::{
    environment::variables,
    output::{CommandOutput, table},
    storage,
};

/// Find the credentials of agents on this machine.
#[derive(Debug, Args)]
pub(crate) struct CredentialsOptions {
    #[command(subcommand)]
    command: CredentialsCommand,
}

#[derive(Debug, Subcommand)]
enum CredentialsCommand {
    /// List the credentials of agents on this machine, or export them as variables
    #[command(after_help = "\
Examples:
  tombolo credentials extract                       list them, without their values
  eval \"$(tombolo credentials extract --export)\"  export them to the programs you start next")]
    Extract(ExtractArgs),
}

/// The options of `tombolo credentials extract`.
#[derive(Debug, Args)]
struct ExtractArgs {
    /// Print shell commands that set the variables, including the secret values
    #[arg(long, conflicts_with = "json")]
    export: bool,
    /// Print JSON, without the secret values
    #[arg(long)]
    json: bool,
    /// Show only the credentials of this agent; may be repeated
    #[arg(long, value_name = "AGENT")]
    agent: Vec<AgentName>,
    /// Search this home directory [default: yours]
    #[arg(long, value_name = "DIRECTORY")]
    home: Option<PathBuf>,
}

impl CredentialsOptions {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let CredentialsCommand::Extract(options) = self.command;
        let found = options.find()?;
        let output = CommandOutput { json: options.json };
        let text = if options.export {
            exports(&found)
        } else if options.json {
            json!(Vec::from_iter(found.iter().map(to_json))).to_string()
        } else {
            credentials_table(&found)
        };
        if found.is_empty() {
            output.print_note(
                "found no credentials: log in with an agent, or set a variable such as ANTHROPIC_API_KEY",
            );
        }
        if !text.is_empty() {
            writeln!(io::stdout(), "{text}")?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl ExtractArgs {
    fn find(&self) -> anyhow::Result<Vec<Credential>> {
        let home = self.home.clone().or_else(storage::home);
        let environment = UserEnvironment { variables: variables(), home, project: None };
        let catalog = Catalog::new(&PathBuf::new(), BTreeMap::new())?;
        if let Some(unknown) = self.agent.iter().find(|name| catalog.get(name).is_none()) {
            bail!("there is no agent `{unknown}`: list the agents with `tombolo agents list`");
        }
        let wanted = |name: &AgentName| self.agent.is_empty() || self.agent.contains(name);
        let agents = catalog.iter().filter(|agent| wanted(&agent.id));
        Ok(agents.flat_map(|agent| agent_catalog::find_credentials(agent, &environment)).collect())
    }
}

/// One `export` command per variable; of several valid credentials, the first.
fn exports(found: &[Credential]) -> String {
    let mut exported = BTreeSet::new();
    let now = Timestamp::now();
    let valid = found.iter().filter(|credential| credential.is_valid(now));
    let commands = valid.filter_map(|credential| {
        let variable = credential.variable.as_ref()?;
        exported
            .insert(variable)
            .then(|| format!("export {variable}={}", quoted(credential.secret.expose_secret())))
    });
    Vec::from_iter(commands).join("\n")
}

/// Quotes a text for a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn to_json(one: &Credential) -> serde_json::Value {
    json!({
        "agent": one.agent,
        "variable": one.variable,
        "file": one.file,
        "expiresAt": one.expires_at,
        "valid": one.is_valid(Timestamp::now()),
    })
}

fn credentials_table(found: &[Credential]) -> String {
    let now = Timestamp::now();
    let state = |one: &Credential| if one.is_valid(now) { "valid" } else { "expired" };
    table(
        ["AGENT", "VARIABLE", "SOURCE", "STATE"],
        found.iter().map(|one| {
            let source = one.file.as_ref().map_or("environment".into(), |file| format!("~/{file}"));
            let variable = one.variable.clone().unwrap_or_else(|| "-".into());
            [one.agent.to_string(), variable, source, state(one).into()]
        }),
    )
}
