//! `tombolo hub workers`.

use clap::Subcommand;
use client::Client;
use protocol::{RuntimeId, SessionId};

use crate::{api, exit::Outcome, output::Output};

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// List the sessions of a runtime
    #[command(after_help = "Examples:\n  tombolo hub workers list box")]
    List {
        /// The runtime
        runtime: RuntimeId,
    },
    /// Watch a session: its snapshot, then what happens
    #[command(after_help = "\
It goes on when the runtime goes away and comes back. A cursor is what a frame called itself; what
came after it is shown again.

Examples:
  tombolo hub workers watch box demo
  tombolo hub workers watch box demo --json | jq -c .envelope.payload")]
    Watch {
        /// The runtime
        runtime: RuntimeId,
        /// The session
        id: SessionId,
        /// The cursor of the last event that was seen
        #[arg(long)]
        cursor: Option<String>,
    },
}

impl super::Verb for Verb {
    async fn run(self, hub: &Client, output: Output) -> Outcome {
        let runtimes = hub.runtimes();
        match self {
            Verb::List { runtime } => output.answer(&runtimes.workers(&runtime).await?, api::sessions_table),
            Verb::Watch { runtime, id, cursor } => {
                api::show(runtimes.watch(&runtime, &id, cursor.as_deref()).await?, output).await
            }
        }
    }
}
