//! `tombolo hub info`: metrics.

use clap::Subcommand;
use client::Client;

use crate::{exit::CommandResult, output::CommandOutput, server_args::RequestCommand};

#[derive(Debug, Subcommand)]
pub(super) enum HubInfoCommand {
    /// Print the metrics of the hub in the Prometheus format
    #[command(after_help = "Example:\n  tombolo hub info metrics | grep backlog")]
    Metrics,
}

impl RequestCommand for HubInfoCommand {
    async fn run(self, hub: &Client, output: CommandOutput) -> CommandResult {
        match self {
            HubInfoCommand::Metrics => output.bytes(hub.info().metrics().await?.body()),
        }
    }
}
