//! `tombolo hub workers`.

use clap::Subcommand;
use client::Client;
use protocol::{RuntimeId, SessionId, presence::Presence};

use crate::{
    api,
    exit::Outcome,
    output::{Output, table, time},
};

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
    /// Say who is there for a session: who watches it, and who drives it
    #[command(after_help = "Examples:\n  tombolo hub workers presence box demo")]
    Presence {
        /// The runtime
        runtime: RuntimeId,
        /// The session
        id: SessionId,
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
            Verb::Presence { runtime, id } => {
                output.answer(&runtimes.presence(&runtime, &id).await?, presence)
            }
        }
    }
}

fn presence(presence: Presence) -> String {
    let watchers = presence.watchers.into_iter().map(|watcher| {
        let sockets = watcher.sockets.to_string();
        [watcher.user.to_string(), "watches".into(), sockets, time(Some(watcher.since_at))]
    });
    let drivers = presence
        .drivers
        .into_iter()
        .map(|driver| [driver.user.to_string(), "drives".into(), "-".into(), time(Some(driver.last_at))]);
    table(["USER", "DOES", "SOCKETS", "SINCE OR LAST"], watchers.chain(drivers))
}
