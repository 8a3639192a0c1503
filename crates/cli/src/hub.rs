//! `tombolo hub`: many daemons, watched through one place.

mod audit;
mod devices;
mod environments;
mod granted;
mod grants;
mod info;
mod relay;
mod runtimes;
mod serve;
mod tokens;
mod users;
mod whoami;
mod workers;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};
use client::Client;

use crate::{
    api::connect_with,
    exit::{self, Outcome},
    output::Output,
    secret::{self, Secret},
};
use serve::ServeOptions;

pub(crate) use serve::{PORT, beside};

/// Where a hub listens unless it is told otherwise.
pub(crate) const DEFAULT_HUB: &str = "http://127.0.0.1:2470";

/// Serve a hub, or ask one.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
The first time it prints a token; whoever asks it needs one. It is not shown again.

Examples:
  tombolo hub
  export TOMBOLO_HUB_TOKEN=tombolo_…
  tombolo hub runtimes add box --at http://127.0.0.1:2468
  tombolo hub workers list box
  tombolo hub workers watch box demo
  tombolo hub users add ana --role default=controller
  tombolo hub tokens add laptop --user ana
  tombolo hub devices confirm KXQM-3F7P --runtime box --root main:rw
  tombolo hub relay status"
)]
pub(crate) struct HubOptions {
    #[command(flatten)]
    serve: ServeOptions,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The daemons that the hub knows
    Runtimes(Call<runtimes::Verb>),
    /// The sessions of those daemons, as people watch them
    Workers(Call<workers::Verb>),
    /// What the hub says of itself
    Info(Call<info::Verb>),
    /// Who may use the hub, and what they may do
    Users(Call<users::Verb>),
    /// What lets people in
    Tokens(Call<tokens::Verb>),
    /// The machines that are lent to agents
    Devices(Call<devices::Verb>),
    /// What of which device a runtime may use
    Grants(Call<grants::Verb>),
    /// What sessions use of devices
    Environments(Call<environments::Verb>),
    /// Everything that is lent
    Relay(Call<relay::Verb>),
    /// Say who you are to the hub, and what you may do
    #[command(after_help = "Examples:\n  tombolo hub whoami")]
    Whoami(One<whoami::WhoAmI>),
    /// What was done through the hub, and by whom
    Audit(One<audit::Audit>),
}

/// Serves, or asks.
pub(crate) fn run(options: HubOptions) -> ExitCode {
    match options.command {
        None => exit::code(serve::run(&options.serve)),
        Some(Command::Runtimes(call)) => call.run(),
        Some(Command::Workers(call)) => call.run(),
        Some(Command::Info(call)) => call.run(),
        Some(Command::Users(call)) => call.run(),
        Some(Command::Tokens(call)) => call.run(),
        Some(Command::Devices(call)) => call.run(),
        Some(Command::Grants(call)) => call.run(),
        Some(Command::Environments(call)) => call.run(),
        Some(Command::Relay(call)) => call.run(),
        Some(Command::Whoami(one)) => one.run(),
        Some(Command::Audit(one)) => one.run(),
    }
}

/// One thing that can be asked of a hub.
pub(crate) trait Verb {
    /// Asks, and prints the answer.
    async fn run(self, hub: &Client, output: Output) -> Outcome;
}

/// A verb, and which hub to ask.
#[derive(Debug, Args)]
struct Call<V: Subcommand> {
    #[command(flatten)]
    connection: Connection,
    #[command(subcommand)]
    verb: V,
}

/// The only verb of its noun, and which hub to ask.
#[derive(Debug, Args)]
struct One<V: Args> {
    #[command(flatten)]
    connection: Connection,
    #[command(flatten)]
    verb: V,
}

/// Which hub to ask, and how to show what it says.
#[derive(Debug, Args)]
#[command(next_help_heading = "Hub")]
pub(crate) struct Connection {
    /// Where the hub is
    #[arg(
        long,
        global = true,
        env = "TOMBOLO_HUB",
        hide_env_values = true,
        default_value = DEFAULT_HUB,
        value_name = "URL"
    )]
    endpoint: String,
    /// A token of the hub; seen by everybody on this machine: prefer the variable or the file
    /// [env: TOMBOLO_HUB_TOKEN]
    #[arg(long, global = true, conflicts_with = "token_file")]
    token: Option<Secret>,
    /// A file that holds the token
    #[arg(long, global = true, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Print the body of the answer as it came, for programs
    #[arg(long, global = true)]
    json: bool,
}

impl<V: Subcommand + Verb> Call<V> {
    fn run(self) -> ExitCode {
        self.connection.ask(self.verb)
    }
}

impl<V: Args + Verb> One<V> {
    fn run(self) -> ExitCode {
        self.connection.ask(self.verb)
    }
}

impl Connection {
    /// Whether what is printed is for programs.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// Asks, and tells how that went.
    pub(crate) fn ask(self, verb: impl Verb) -> ExitCode {
        let Self { endpoint, token, token_file, json } = self;
        let token = secret::token(token.as_ref(), token_file.as_deref(), secret::HUB_TOKEN_VARIABLE);
        let outcome = connect_with(&endpoint, token).and_then(|hub| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(verb.run(&hub, Output { json }))
        });
        exit::report(outcome, json, &format!("asking the hub at {endpoint}"))
    }
}
