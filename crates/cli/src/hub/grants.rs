//! `tombolo hub grants`: the parts of a device that a runtime may use.

use std::time::Duration;

use clap::Subcommand;
use client::Client;
use protocol::{
    GrantId, RuntimeId,
    lending::CreateGrantRequest,
    relay::{ClientId, Grant},
};

use super::grant_args::{GrantArgs, summary};
use crate::{
    duration::{self, VALUE_NAME},
    exit::CommandResult,
    output::{CommandOutput, or_dash, table, time},
    server_args::RequestCommand,
};

#[derive(Debug, Subcommand)]
pub(super) enum HubGrantsCommand {
    /// List the grants, oldest first
    #[command(after_help = "Examples:\n  tombolo hub grants list")]
    List,
    /// Grant a runtime the parts of a device that the options name
    #[command(after_help = "\
Examples:
  tombolo hub grants add laptop --runtime box --root main:rw --root docs:ro
  tombolo hub grants add laptop --runtime box --root main:rw --shell ask_once_per_run --tools
  tombolo hub grants add laptop --runtime box --root main:ro --expires-in 8h")]
    Add {
        /// The device
        client_id: ClientId,
        /// Grant to this runtime
        #[arg(long)]
        runtime: RuntimeId,
        /// Limit the grant to this scope
        #[arg(long)]
        scope: Option<String>,
        /// Let the grant expire after this long, for example 30d or 12h [default: never]
        #[arg(long, value_name = VALUE_NAME, value_parser = duration::parse_positive)]
        expires_in: Option<Duration>,
        #[command(flatten)]
        grant: GrantArgs,
    },
    /// Remove a grant and cancel the requests that use it
    #[command(after_help = "Examples:\n  tombolo hub grants remove grt_0198c0de0198c0de0198c0de0198c0de")]
    Remove {
        /// The grant
        id: GrantId,
    },
}

impl RequestCommand for HubGrantsCommand {
    async fn run(self, hub: &Client, output: CommandOutput) -> CommandResult {
        let grants = hub.grants();
        match self {
            HubGrantsCommand::List => output.answer(&grants.list().await?, |list| view(list.items)),
            HubGrantsCommand::Add { client_id, runtime, scope, expires_in, grant } => {
                let add = CreateGrantRequest {
                    client_id,
                    runtime_id: runtime,
                    scope_id: scope,
                    capabilities: grant.capabilities(),
                    expires_at: expires_in.map(duration::from_now).transpose()?,
                };
                output.answer(&grants.add(&add).await?, |grant| view(vec![grant]))
            }
            HubGrantsCommand::Remove { id } => {
                grants.remove(id).await?;
                output.done(&format!("removed {id}"))
            }
        }
    }
}

fn view(grants: Vec<Grant>) -> String {
    let rows = grants.into_iter().map(|grant| {
        let allows = summary(&grant);
        [
            grant.grant_id,
            grant.client_id.to_string(),
            grant.runtime_id.to_string(),
            or_dash(grant.scope_id),
            allows,
            time(grant.expires_at),
        ]
    });
    table(["ID", "DEVICE", "RUNTIME", "SCOPE", "ALLOWS", "EXPIRES"], rows)
}
