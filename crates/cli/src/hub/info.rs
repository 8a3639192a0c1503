//! `tombolo hub info`: the API document and metrics.

use clap::Subcommand;
use client::Client;

use crate::{exit::CommandResult, output::CommandOutput, server_args::RequestCommand};

#[derive(Debug, Subcommand)]
pub(super) enum HubInfoCommand {
    /// Print the OpenAPI document of the hub
    #[command(after_help = "Example:\n  tombolo hub info openapi > openapi-hub.json")]
    Openapi,
    /// Print the metrics of the hub in the Prometheus format
    #[command(after_help = "Example:\n  tombolo hub info metrics | grep backlog")]
    Metrics,
}

impl RequestCommand for HubInfoCommand {
    async fn run(self, hub: &Client, output: CommandOutput) -> CommandResult {
        match self {
            HubInfoCommand::Openapi => output.bytes(hub.info().hub_openapi().await?.body()),
            HubInfoCommand::Metrics => output.bytes(hub.info().metrics().await?.body()),
        }
    }
}
