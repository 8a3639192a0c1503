//! `tombolo hub workers`: the sessions of a runtime.

use clap::Subcommand;
use client::Client;
use protocol::{RuntimeId, SessionId, presence::WorkerPresence, worker_actions::WorkerDetails};

use crate::{
    api,
    exit::CommandResult,
    output::{CommandOutput, or_dash, table, time, yes_no},
    server_args::RequestCommand,
};

#[derive(Debug, Subcommand)]
pub(super) enum HubWorkersCommand {
    /// List the sessions of a runtime
    #[command(after_help = "Examples:\n  tombolo hub workers list box")]
    List {
        /// The runtime
        runtime: RuntimeId,
    },
    /// Show a session, and what you may do with it
    #[command(after_help = "Examples:\n  tombolo hub workers get box demo")]
    Get {
        /// The runtime
        runtime: RuntimeId,
        /// The session
        id: SessionId,
    },
    /// Watch a session: its snapshot, then its events
    #[command(after_help = "\
Watching continues while the runtime disconnects and reconnects. To continue after a known event,
pass the `cursor` of its frame (see --json).

Examples:
  tombolo hub workers watch box demo
  tombolo hub workers watch box demo --json | jq -c .envelope.payload")]
    Watch {
        /// The runtime
        runtime: RuntimeId,
        /// The session
        id: SessionId,
        /// Continue after the event with this cursor
        #[arg(long)]
        cursor: Option<String>,
    },
    /// List the users who watch or drive a session
    #[command(after_help = "Examples:\n  tombolo hub workers presence box demo")]
    Presence {
        /// The runtime
        runtime: RuntimeId,
        /// The session
        id: SessionId,
    },
}

impl RequestCommand for HubWorkersCommand {
    async fn run(self, hub: &Client, output: CommandOutput) -> CommandResult {
        let runtimes = hub.runtimes();
        match self {
            HubWorkersCommand::List { runtime } => {
                output.answer(&runtimes.workers(&runtime).await?, api::sessions_table)
            }
            HubWorkersCommand::Get { runtime, id } => {
                output.answer(&runtimes.worker(&runtime, &id).await?, details)
            }
            HubWorkersCommand::Watch { runtime, id, cursor } => {
                api::print_frames(runtimes.watch(&runtime, &id, cursor.as_deref()).await?, output).await
            }
            HubWorkersCommand::Presence { runtime, id } => {
                output.answer(&runtimes.presence(&runtime, &id).await?, presence)
            }
        }
    }
}

fn details(worker: WorkerDetails) -> String {
    let actions = worker.actions.into_iter().map(|action| {
        let allowed = yes_no(action.allowed);
        [action.action, allowed, format!("{} {}", action.method, action.path), or_dash(action.reason)]
    });
    let actions = table(["ACTION", "ALLOWED", "REQUEST", "REASON"], actions);
    format!("{}\n\n{actions}", api::session_card(&worker.session))
}

fn presence(presence: WorkerPresence) -> String {
    let watchers = presence.watchers.into_iter().map(|watcher| {
        let sockets = watcher.sockets.to_string();
        [watcher.user.to_string(), "watching".into(), sockets, time(Some(watcher.connected_at))]
    });
    let drivers = presence.drivers.into_iter().map(|driver| {
        [driver.user.to_string(), "driving".into(), "-".into(), time(Some(driver.last_active_at))]
    });
    table(["USER", "ACTIVITY", "CONNECTIONS", "SINCE OR LAST"], watchers.chain(drivers))
}
