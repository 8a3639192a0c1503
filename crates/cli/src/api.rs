//! `tombolo api <resource> <verb>`: one command for every endpoint of the daemon.

mod acp;
mod agents;
mod fs;
mod info;
mod input;
mod mcp;
mod operations;
mod processes;
mod sessions;
mod skills;
mod waits;
mod workers;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Subcommand};
use client::{Client, Endpoint, Token};

pub(crate) use operations::{operations, with_operations};
pub(crate) use sessions::{ask as asked, list as sessions_table, permission_mode};
pub(crate) use waits::{always, choices};
pub(crate) use workers::show;

use crate::{
    exit::{self, Failure, Outcome},
    output::Output,
    secret::{self, Secret},
};
use operations::Operation;

/// Where a daemon listens unless it is told otherwise.
pub(crate) const DEFAULT_ENDPOINT: &str = "http://127.0.0.1:2468";

/// Ask a daemon.
#[derive(Debug, Args)]
#[command(
    after_help = exit::CODES,
    after_long_help = [
        "Every command prints a table for people, or with --json the body of the answer, byte for byte.\n\
         stdout is data, stderr is talk: problems, progress and remarks go to stderr.\n\n\
         Examples:\n  \
           tombolo api agents list\n  \
           tombolo api acp stream demo --follow --json | jq .data\n  \
           tombolo api fs write /workspace/a.tar a.tar --endpoint https://box.example --token-file token\n\n",
        exit::CODES,
    ].concat(),
)]
pub(crate) struct Api {
    #[command(subcommand)]
    pub(crate) resource: Resource,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Resource {
    /// Instances: ACP agents that run behind the daemon
    Acp(Call<acp::Verb>),
    /// Agents: the programs that can be run
    Agents(Call<agents::Verb>),
    /// Sessions: conversations with any agent, in one vocabulary
    Sessions(Call<sessions::Verb>),
    /// What waits for a person, in all sessions
    Waits(Call<waits::Verb>),
    /// Workers: sessions as a backend watches them
    Workers(Call<workers::Verb>),
    /// Files and directories of the sandbox
    Fs(Call<fs::Verb>),
    /// Processes that you run in the sandbox
    Processes(Call<processes::Verb>),
    /// MCP servers that are configured for a directory
    Mcp(Call<mcp::Verb>),
    /// Skills that are configured for a directory
    Skills(Call<skills::Verb>),
    /// What the daemon says of itself
    Info(Call<info::Verb>),
}

impl Resource {
    /// Asks the daemon and prints what it says.
    pub(crate) fn run(self) -> ExitCode {
        match self {
            Resource::Acp(call) => call.run(),
            Resource::Agents(call) => call.run(),
            Resource::Sessions(call) => call.run(),
            Resource::Waits(call) => call.run(),
            Resource::Workers(call) => call.run(),
            Resource::Fs(call) => call.run(),
            Resource::Processes(call) => call.run(),
            Resource::Mcp(call) => call.run(),
            Resource::Skills(call) => call.run(),
            Resource::Info(call) => call.run(),
        }
    }
}

/// One thing that can be asked of a resource.
pub(crate) trait Verb: Subcommand {
    /// The endpoint that it mirrors.
    fn operation(&self) -> &'static Operation;

    /// Asks, and prints the answer.
    async fn run(self, client: &Client, output: Output) -> Outcome;
}

/// A verb, and which daemon to ask.
#[derive(Debug, Args)]
pub(crate) struct Call<V: Subcommand> {
    #[command(flatten)]
    connection: Connection,
    #[command(subcommand)]
    verb: V,
}

impl<V: Verb> Call<V> {
    fn run(self) -> ExitCode {
        let Self { connection, verb } = self;
        let json = connection.json;
        let doing = format!("{} at {}", verb.operation(), connection.endpoint);
        let outcome = connection.client().and_then(|client| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let outcome = runtime.block_on(verb.run(&client, Output { json }));
            // A thread may still wait for our input, which nobody needs any more.
            runtime.shutdown_background();
            outcome
        });
        exit::report(outcome, json, &doing)
    }
}

/// Which daemon to ask, and how to show what it says.
#[derive(Debug, Args)]
#[command(next_help_heading = "Daemon")]
struct Connection {
    /// Where the daemon is
    #[arg(
        long,
        global = true,
        env = "TOMBOLO_ENDPOINT",
        hide_env_values = true,
        default_value = DEFAULT_ENDPOINT,
        value_name = "URL"
    )]
    endpoint: String,
    /// The daemon's token; seen by everybody on this machine: prefer the variable or the file
    /// [env: TOMBOLO_TOKEN]
    #[arg(long, global = true, conflicts_with = "token_file")]
    token: Option<Secret>,
    /// A file that holds the token
    #[arg(long, global = true, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Print the body of the answer as it came, for programs
    #[arg(long, global = true)]
    json: bool,
}

impl Connection {
    fn client(&self) -> Result<Client, Failure> {
        connect(&self.endpoint, self.token.as_ref(), self.token_file.as_deref())
    }
}

/// A client of the daemon at `endpoint`, with the token that was given.
pub(crate) fn connect(
    endpoint: &str,
    token: Option<&Secret>,
    token_file: Option<&Path>,
) -> Result<Client, Failure> {
    connect_with(endpoint, secret::token(token, token_file, secret::TOKEN_VARIABLE))
}

/// A client of the server at `endpoint`, with the token that was found.
pub(crate) fn connect_with(endpoint: &str, token: anyhow::Result<Option<Secret>>) -> Result<Client, Failure> {
    let endpoint: Endpoint = endpoint
        .parse()
        .map_err(|error: client::InvalidEndpoint| Failure::Usage(format!("--endpoint: {error}")))?;
    let token = token.map_err(Failure::Local)?.map(|token| token.reveal().parse::<Token>()).transpose();
    let token = token.map_err(|error| Failure::Usage(format!("--token: {error}")))?;
    Ok(Client::new(endpoint, token.as_ref())?)
}
