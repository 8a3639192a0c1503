//! `tombolo hub runtimes`: the daemons that the hub connects to.

use std::{path::PathBuf, time::Duration};

use clap::Subcommand;
use client::Client;
use protocol::{
    RuntimeId, WorkspaceName,
    hub::{AddRuntimeRequest, CreateJoinTokenRequest, Runtime, RuntimeKind},
};
use secrecy::ExposeSecret;

use crate::{
    duration::{self, VALUE_NAME},
    exit::{CommandError, CommandResult},
    output::{CommandOutput, table, time},
    secret::{self, TOKEN_VARIABLE},
    server_args::RequestCommand,
};

#[derive(Debug, Subcommand)]
pub(super) enum HubRuntimesCommand {
    /// List the runtimes by name, and whether the hub reaches them
    #[command(after_help = "Examples:\n  tombolo hub runtimes list")]
    List,
    /// Add a daemon as a runtime; the hub keeps its URL and token secret
    #[command(after_help = "\
Examples:
  tombolo hub runtimes add box --at http://127.0.0.1:2468
  tombolo hub runtimes add far --at https://box.example --with-token-file token --workspace team")]
    Add {
        /// The name of the runtime; you choose it
        id: RuntimeId,
        /// Connect to the daemon at this URL
        #[arg(long, value_name = "URL")]
        at: String,
        /// Add the runtime to this workspace
        #[arg(long, default_value_t)]
        workspace: WorkspaceName,
        /// Read the token of the daemon from this file [default: the variable TOMBOLO_TOKEN]
        #[arg(long, value_name = "FILE")]
        with_token_file: Option<PathBuf>,
    },
    /// Register a runtime whose daemon connects to the hub, and print its join token once
    #[command(after_help = "\
Examples:
  tombolo hub runtimes invite box > join.token
  tombolo daemon --join https://hub.example --join-token-file join.token")]
    Invite {
        /// The name of the runtime; you choose it
        id: RuntimeId,
        /// Add the runtime to this workspace
        #[arg(long, default_value_t)]
        workspace: WorkspaceName,
        /// How long the token may wait for its daemon, such as 30m or 7d
        #[arg(long, default_value = "24h", value_name = VALUE_NAME, value_parser = duration::parse_positive)]
        expires_in: Duration,
    },
    /// Show a runtime
    #[command(after_help = "Examples:\n  tombolo hub runtimes get box")]
    Get {
        /// The runtime
        id: RuntimeId,
    },
    /// Remove a runtime from the hub; its daemon keeps running but can no longer join
    #[command(after_help = "Examples:\n  tombolo hub runtimes remove box")]
    Remove {
        /// The runtime
        id: RuntimeId,
    },
}

impl RequestCommand for HubRuntimesCommand {
    async fn run(self, hub: &Client, output: CommandOutput) -> CommandResult {
        let runtimes = hub.runtimes();
        match self {
            HubRuntimesCommand::List => output.answer(&runtimes.list().await?, |list| view(list.items)),
            HubRuntimesCommand::Add { id, at, workspace, with_token_file } => {
                let token = secret::token(None, with_token_file.as_deref(), TOKEN_VARIABLE);
                let token = token.map_err(CommandError::Local)?.map(|token| token.expose_secret().to_owned());
                let add = AddRuntimeRequest { id, workspace, endpoint: at, token };
                output.answer(&runtimes.add(&add).await?, |runtime| view(vec![runtime]))
            }
            HubRuntimesCommand::Invite { id, workspace, expires_in } => {
                let expires_at = Some(duration::from_now(expires_in)?);
                let answer = runtimes.invite(&CreateJoinTokenRequest { id, workspace, expires_at }).await?;
                output.print_note("this token is shown once: save it to a file and start the daemon with --join URL --join-token-file FILE");
                output.answer(&answer, |invited| invited.token)
            }
            HubRuntimesCommand::Get { id } => {
                output.answer(&runtimes.get(&id).await?, |runtime| view(vec![runtime]))
            }
            HubRuntimesCommand::Remove { id } => {
                runtimes.remove(&id).await?;
                output.done(&format!("removed {id}"))
            }
        }
    }
}

fn view(runtimes: Vec<Runtime>) -> String {
    let rows = runtimes.into_iter().map(|runtime| {
        let reachable = match runtime.is_reachable {
            None => "-",
            Some(true) => "yes",
            Some(false) => "no",
        };
        let kind = match runtime.kind {
            RuntimeKind::Remote => "remote",
            RuntimeKind::Local => "local",
            RuntimeKind::Joined => "joined",
        };
        let Runtime { id, workspace, added_at, .. } = runtime;
        [id.to_string(), workspace.to_string(), kind.into(), reachable.into(), time(Some(added_at))]
    });
    table(["ID", "WORKSPACE", "KIND", "REACHABLE", "ADDED"], rows)
}
