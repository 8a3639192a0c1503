//! `tombolo hub runtimes`.

use std::path::PathBuf;

use clap::Subcommand;
use client::Client;
use protocol::{
    RuntimeId, Workspace,
    hub::{AddRuntime, InviteRuntime, Runtime, RuntimeKind},
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
    /// Let a daemon join by itself; prints what it joins with, once
    #[command(after_help = "\
Examples:
  tombolo hub runtimes invite box > join.token
  tombolo daemon --join https://hub.example --join-token-file join.token")]
    Invite {
        /// The name that it gets
        id: RuntimeId,
        /// The workspace that it belongs to
        #[arg(long, default_value_t)]
        workspace: Workspace,
    },
    /// Say how a runtime is
    #[command(after_help = "Examples:\n  tombolo hub runtimes get box")]
    Get {
        /// The runtime
        id: RuntimeId,
    },
    /// Remove a runtime; nothing happens to it, but it cannot join any more
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
            Verb::Invite { id, workspace } => {
                let answer = runtimes.invite(&InviteRuntime { id, workspace }).await?;
                output.talk("shown only now; the daemon takes it with --join URL --join-token-file FILE");
                output.answer(&answer, |made| made.token)
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
        let kind = match runtime.kind {
            RuntimeKind::Remote => "remote",
            RuntimeKind::Local => "local",
            RuntimeKind::Joined => "joined",
        };
        let Runtime { id, workspace, added_at, .. } = runtime;
        [id.to_string(), workspace.to_string(), kind.into(), up.into(), time(Some(added_at))]
    });
    table(["ID", "WORKSPACE", "KIND", "UP", "ADDED"], rows)
}
