//! `tombolo api info`.

use clap::Subcommand;
use client::Client;

use super::operations::{Operation, mirrors};
use crate::{
    exit::Outcome,
    output::{Output, card},
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Say what answers at the endpoint
    About,
    /// Say whether the daemon is well; needs no token
    #[command(after_help = "Examples:\n  tombolo api info health && echo it is up")]
    Health,
    /// Print the OpenAPI document
    #[command(after_help = "Examples:\n  tombolo api info openapi > openapi.json")]
    Openapi,
    /// Print what the daemon counted, for Prometheus
    #[command(after_help = "Examples:\n  tombolo api info metrics | grep turn")]
    Metrics,
}

mirrors! { Verb:
    About = "about" GET "/";
    Health = "health" GET "/v1/health";
    Openapi = "openapi" GET "/v1/openapi.json";
    Metrics = "metrics" GET "/metrics";
}

impl super::Verb for Verb {
    fn operation(&self) -> &'static Operation {
        self.mirrored()
    }

    async fn run(self, client: &Client, output: Output) -> Outcome {
        match self {
            Verb::About => output.answer(&client.info().about().await?, |about| {
                card([
                    ("name", about.name),
                    ("description", about.description),
                    ("openapi", about.openapi),
                    ("health", about.health),
                ])
            }),
            Verb::Health => {
                output.answer(&client.info().health().await?, |health| card([("status", health.status)]))
            }
            // A document is its own best form, for people and programs alike.
            Verb::Openapi => output.bytes(client.info().openapi().await?.body()),
            Verb::Metrics => output.bytes(client.info().metrics().await?.body()),
        }
    }
}
