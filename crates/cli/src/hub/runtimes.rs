//! `tombolo hub runtimes`.

use std::path::PathBuf;

use clap::Subcommand;
use client::Client;
use protocol::{
    RuntimeId, Workspace,
    hub::{AddRuntime, Runtime},
};

use crate::{
    exit::{Failure, Outcome},
    output::{Output, table, time},
    secret::{self, TOKEN_VARIABLE},
};

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// List the runtimes, by name
    #[command(after_help = "Examples:\n  tombolo hub runtimes list")]
    List,
    /// Add a daemon; the hub keeps where it is and its token, and tells nobody
    #[command(after_help = "\
Examples:
  tombolo hub runtimes add box --at http://127.0.0.1:2468
  tombolo hub runtimes add far --at https://box.example --with-token-file token --workspace team")]
    Add {
        /// The name that it gets
        id: RuntimeId,
        /// Where the daemon is
        #[arg(long, value_name = "URL")]
        at: String,
        /// The workspace that it belongs to
        #[arg(long, default_value_t)]
        workspace: Workspace,
        /// A file that holds the daemon's token [default: the variable TOMBOLO_TOKEN]
        #[arg(long, value_name = "FILE")]
        with_token_file: Option<PathBuf>,
    },
    /// Say how a runtime is
    #[command(after_help = "Examples:\n  tombolo hub runtimes get box")]
    Get {
        /// The runtime
        id: RuntimeId,
    },
    /// Remove a runtime; nothing happens to it
    #[command(after_help = "Examples:\n  tombolo hub runtimes remove box")]
    Remove {
        /// The runtime
        id: RuntimeId,
    },
}

impl super::Verb for Verb {
    async fn run(self, hub: &Client, output: Output) -> Outcome {
        let runtimes = hub.runtimes();
        match self {
            Verb::List => output.answer(&runtimes.list().await?, |list| view(list.items)),
            Verb::Add { id, at, workspace, with_token_file } => {
                let token = secret::token(None, with_token_file.as_deref(), TOKEN_VARIABLE);
                let token = token.map_err(Failure::Local)?.map(|token| token.reveal().to_owned());
                let add = AddRuntime { id, workspace, endpoint: at, token };
                output.answer(&runtimes.add(&add).await?, |runtime| view(vec![runtime]))
            }
            Verb::Get { id } => output.answer(&runtimes.get(&id).await?, |runtime| view(vec![runtime])),
            Verb::Remove { id } => {
                runtimes.remove(&id).await?;
                output.done(&format!("removed {id}"))
            }
        }
    }
}

fn view(runtimes: Vec<Runtime>) -> String {
    let rows = runtimes.into_iter().map(|runtime| {
        let up = match runtime.is_up {
            None => "-",
            Some(true) => "yes",
            Some(false) => "no",
        };
        [runtime.id.to_string(), runtime.workspace.to_string(), up.into(), time(Some(runtime.added_at))]
    });
    table(["ID", "WORKSPACE", "UP", "ADDED"], rows)
}
