//! `tombolo api info`.

use clap::Subcommand;
use client::Client;

use super::operations::mirrors;
use crate::{
    exit::CommandResult,
    output::{CommandOutput, card},
    server_args::RequestCommand,
};

#[derive(Debug, Subcommand)]
pub(crate) enum DaemonInfoCommand {
    /// Show the name and the links of the server
    #[command(after_help = "Example:\n  tombolo api info about")]
    About,
    /// Check that the daemon is running; needs no token
    #[command(after_help = "Examples:\n  tombolo api info health && echo the daemon is running")]
    Health,
    /// Print the OpenAPI document of the daemon
    #[command(after_help = "Examples:\n  tombolo api info openapi > openapi.json")]
    Openapi,
    /// Print the metrics of the daemon in the Prometheus format
    #[command(after_help = "Examples:\n  tombolo api info metrics | grep turn")]
    Metrics,
}

mirrors! { DaemonInfoCommand:
    About = "about" GET "/";
    Health = "health" GET "/v1/health";
    Openapi = "openapi" GET "/v1/openapi.json";
    Metrics = "metrics" GET "/metrics";
}

impl RequestCommand for DaemonInfoCommand {
    fn describe(&self) -> String {
        self.operation().to_string()
    }

    async fn run(self, client: &Client, output: CommandOutput) -> CommandResult {
        match self {
            DaemonInfoCommand::About => output.answer(&client.info().about().await?, |about| {
                card([
                    ("name", about.name),
                    ("description", about.description),
                    ("openapi", about.openapi),
                    ("health", about.health),
                ])
            }),
            DaemonInfoCommand::Health => {
                output.answer(&client.info().health().await?, |health| card([("status", health.status)]))
            }
            // The document is JSON for people too: a table could not show it.
            DaemonInfoCommand::Openapi => output.bytes(client.info().openapi().await?.body()),
            DaemonInfoCommand::Metrics => output.bytes(client.info().metrics().await?.body()),
        }
    }
}
