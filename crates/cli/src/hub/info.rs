//! `tombolo hub info`.

use clap::Subcommand;
use client::Client;

use crate::{exit::Outcome, output::Output};

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Print what the hub counted, for Prometheus
    #[command(after_help = "Examples:\n  tombolo hub info metrics | grep backlog")]
    Metrics,
}

impl super::Verb for Verb {
    async fn run(self, hub: &Client, output: Output) -> Outcome {
        match self {
            Verb::Metrics => output.bytes(hub.info().metrics().await?.body()),
        }
    }
}
