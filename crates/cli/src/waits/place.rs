//! Where waits are asked for: a hub, or a daemon.

use std::path::PathBuf;

use clap::Args;
use client::Client;
use protocol::{
    RuntimeId,
    wait::{Wait, WaitReply},
};

use super::view;
use crate::{
    api::{self, DEFAULT_ENDPOINT},
    exit::{Failure, Outcome},
    output::Output,
    secret::{self, Secret},
};

/// Which hub or daemon to ask, and how to show what it says.
#[derive(Debug, Args)]
#[command(next_help_heading = "Hub or daemon")]
pub(super) struct Connection {
    /// Where the hub is
    #[arg(long, global = true, env = "TOMBOLO_HUB", hide_env_values = true, value_name = "URL")]
    hub: Option<String>,
    /// Where the daemon is, if there is no hub
    #[arg(
        long,
        global = true,
        env = "TOMBOLO_ENDPOINT",
        hide_env_values = true,
        default_value = DEFAULT_ENDPOINT,
        value_name = "URL"
    )]
    endpoint: String,
    /// A token of the hub or the daemon; seen by everybody on this machine: prefer the variable or the file
    /// [env: TOMBOLO_HUB_TOKEN, TOMBOLO_TOKEN]
    #[arg(long, global = true, conflicts_with = "token_file")]
    token: Option<Secret>,
    /// A file that holds the token
    #[arg(long, global = true, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Print the body of the answer as it came, for programs
    #[arg(long, global = true)]
    pub(super) json: bool,
}

impl Connection {
    /// What is being done, for whoever is told that it failed.
    pub(super) fn doing(&self) -> String {
        match self.hub() {
            Some(hub) => format!("asking the hub at {hub}"),
            None => format!("asking the daemon at {}", self.endpoint),
        }
    }

    /// Who is asked.
    pub(super) fn place(&self) -> Result<Place, Failure> {
        let token = |variable| secret::token(self.token.as_ref(), self.token_file.as_deref(), variable);
        match self.hub() {
            Some(hub) => Ok(Place::Hub(api::connect_with(hub, token(secret::HUB_TOKEN_VARIABLE))?)),
            None => Ok(Place::Daemon(api::connect_with(&self.endpoint, token(secret::TOKEN_VARIABLE))?)),
        }
    }

    /// The hub, unless the variable is set to nothing.
    fn hub(&self) -> Option<&str> {
        self.hub.as_deref().filter(|hub| !hub.is_empty())
    }
}

/// Who is asked.
pub(super) enum Place {
    Hub(Client),
    Daemon(Client),
}

/// A wait, and where: nowhere in particular if a daemon was asked.
pub(super) type Found = (Option<RuntimeId>, Wait);

impl Place {
    /// Prints what is open.
    pub(super) async fn list(&self, output: Output) -> Outcome {
        match self {
            Place::Hub(hub) => {
                let answer = hub.inbox().list().await?;
                output.answer(&answer, |inbox| {
                    for runtime in &inbox.unavailable {
                        output.talk(&format!("{runtime} does not say what waits there"));
                    }
                    view::table(inbox.items.into_iter().map(|item| (Some(item.runtime_id), item.wait)))
                })
            }
            Place::Daemon(daemon) => {
                let answer = daemon.waits().list().await?;
                output.answer(&answer, |list| view::table(list.items.into_iter().map(|wait| (None, wait))))
            }
        }
    }

    /// Prints what is open and what becomes of it.
    pub(super) async fn follow(&self, output: Output) -> Outcome {
        match self {
            Place::Hub(hub) => view::follow(hub.inbox().events().await?, output).await,
            Place::Daemon(daemon) => view::follow(daemon.waits().events().await?, output).await,
        }
    }

    /// All that is open.
    pub(super) async fn open(&self) -> Result<Vec<Found>, Failure> {
        Ok(match self {
            Place::Hub(hub) => {
                let items = hub.inbox().list().await?.read()?.items.into_iter();
                items.map(|item| (Some(item.runtime_id), item.wait)).collect()
            }
            Place::Daemon(daemon) => {
                daemon.waits().list().await?.read()?.items.into_iter().map(|wait| (None, wait)).collect()
            }
        })
    }

    /// Answers, and prints how it was settled.
    pub(super) async fn answer(&self, (runtime, wait): &Found, reply: &WaitReply, output: Output) -> Outcome {
        let settled = match (self, runtime) {
            (Place::Hub(hub), Some(runtime)) => hub.inbox().answer(runtime, wait.id, reply).await?,
            (Place::Hub(client), None) | (Place::Daemon(client), _) => {
                client.waits().answer(wait.id, reply).await?
            }
        };
        output.answer(&settled, |wait| view::settled(runtime.as_ref(), &wait))
    }
}
