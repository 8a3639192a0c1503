//! `tombolo hub grants`.

use clap::Subcommand;
use client::Client;
use jiff::{SignedDuration, Timestamp};
use protocol::{
    GrantId, RuntimeId,
    lending::AddGrant,
    relay::{ClientId, Grant},
};

use super::{
    granted::{Granted, summary},
    tokens::duration,
};
use crate::{
    exit::{Failure, Outcome},
    output::{Output, or_dash, table, time},
};

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// List what was granted, the oldest first
    #[command(after_help = "Examples:\n  tombolo hub grants list")]
    List,
    /// Grant a runtime the use of a device; nothing is granted that is not named
    #[command(after_help = "\
Examples:
  tombolo hub grants add laptop --runtime box --root main:rw --root docs:ro
  tombolo hub grants add laptop --runtime box --root main:rw --shell ask_once_per_run --tools
  tombolo hub grants add laptop --runtime box --root main:ro --expires-in 8h")]
    Add {
        /// The device
        client_id: ClientId,
        /// The runtime that may use it
        #[arg(long)]
        runtime: RuntimeId,
        /// Only in this workspace or space
        #[arg(long)]
        scope: Option<String>,
        /// For how long, such as `30d` or `12h` [default: until it is taken back]
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        expires_in: Option<SignedDuration>,
        #[command(flatten)]
        granted: Granted,
    },
    /// Take a grant back: what goes on under it is ended
    #[command(after_help = "Examples:\n  tombolo hub grants remove grt_0198c0de0198c0de0198c0de0198c0de")]
    Remove {
        /// The grant
        id: GrantId,
    },
}

impl super::Verb for Verb {
    async fn run(self, hub: &Client, output: Output) -> Outcome {
        let grants = hub.grants();
        match self {
            Verb::List => output.answer(&grants.list().await?, |list| view(list.items)),
            Verb::Add { client_id, runtime, scope, expires_in, granted } => {
                let expires_at = expires_in.map(|long| Timestamp::now().saturating_add(long)).transpose();
                let expires_at = expires_at.map_err(|error| Failure::Local(error.into()))?;
                let (runtime_id, scope_id, capabilities) = (runtime, scope, granted.capabilities());
                let add = AddGrant { client_id, runtime_id, scope_id, capabilities, expires_at };
                output.answer(&grants.add(&add).await?, |grant| view(vec![grant]))
            }
            Verb::Remove { id } => {
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
