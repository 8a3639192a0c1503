//! `tombolo credentials`: what the agents of this machine are let in with.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use ::agents::{Catalog, Credential, install::Environment};
use anyhow::bail;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use protocol::AgentName;
use serde_json::json;

use crate::{
    environment::variables,
    output::{Output, table},
    storage,
};

/// The credentials of this machine.
#[derive(Debug, Args)]
pub(crate) struct Credentials {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Find the credentials that agents have on this machine
    #[command(after_help = "\
Examples:
  tombolo credentials extract                    which there are and where; never what they are
  eval \"$(tombolo credentials extract --export)\"  hand them to what is started next")]
    Extract(Extract),
}

/// What to find, and how to show it.
#[derive(Debug, Args)]
struct Extract {
    /// Print shell commands that set the variables, with the credentials themselves
    #[arg(long, conflicts_with = "json")]
    export: bool,
    /// Print JSON, without the credentials themselves
    #[arg(long)]
    json: bool,
    /// Only those of this agent; may be repeated
    #[arg(long, value_name = "AGENT")]
    agent: Vec<AgentName>,
    /// The home to look in; yours if left out
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

impl Credentials {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let Verb::Extract(options) = self.verb;
        let found = options.found()?;
        let output = Output { json: options.json };
        let text = if options.export {
            exports(&found)
        } else if options.json {
            json!(Vec::from_iter(found.iter().map(described))).to_string()
        } else {
            shown(&found)
        };
        if found.is_empty() {
            output.talk("no credentials were found");
        }
        if !text.is_empty() {
            writeln!(io::stdout(), "{text}")?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Extract {
    fn found(&self) -> anyhow::Result<Vec<Credential>> {
        let home = self.home.clone().or_else(storage::home);
        let environment = Environment { variables: variables(), home, project: None };
        let catalog = Catalog::new(&PathBuf::new(), BTreeMap::new())?;
        if let Some(unknown) = self.agent.iter().find(|name| catalog.get(name).is_none()) {
            bail!("there is no agent `{unknown}`");
        }
        let wanted = |name: &AgentName| self.agent.is_empty() || self.agent.contains(name);
        let agents = catalog.iter().filter(|agent| wanted(&agent.id));
        Ok(agents.flat_map(|agent| ::agents::credentials(agent, &environment)).collect())
    }
}

/// One command for each variable; the first credential that can be used wins.
fn exports(found: &[Credential]) -> String {
    let (mut done, now) = (BTreeSet::new(), Timestamp::now());
    let usable = found.iter().filter(|one| one.is_valid(now));
    let commands = usable.filter_map(|one| {
        let variable = one.variable.as_ref()?;
        done.insert(variable).then(|| format!("export {variable}={}", quoted(one.secret.reveal())))
    });
    Vec::from_iter(commands).join("\n")
}

/// A text as a shell reads it, whatever is in it.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn described(one: &Credential) -> serde_json::Value {
    json!({
        "agent": one.agent,
        "variable": one.variable,
        "file": one.file,
        "expiresAt": one.expires_at,
        "valid": one.is_valid(Timestamp::now()),
    })
}

fn shown(found: &[Credential]) -> String {
    let now = Timestamp::now();
    let state = |one: &Credential| if one.is_valid(now) { "valid" } else { "expired" };
    table(
        ["AGENT", "VARIABLE", "FOUND IN", "STATE"],
        found.iter().map(|one| {
            let place = one.file.as_ref().map_or("the environment".into(), |file| format!("~/{file}"));
            let variable = one.variable.clone().unwrap_or_else(|| "none: only the file".into());
            [one.agent.to_string(), variable, place, state(one).into()]
        }),
    )
}
