//! `tombolo waits`: list and answer what agents wait for, on a hub or on one daemon.

mod answer;
mod confirmation;
mod show;
mod source;
mod view;
mod wait_text;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use client::Client;

use crate::{
    exit::{CommandError, CommandResult},
    output::CommandOutput,
    server_args::{HubOrDaemonUrl, RequestArgs, RequestCommand},
};
use answer::AnswerArgs;
use show::ShowArgs;
use source::WaitSource;

pub(crate) use view::{age, follow, full, kind, listed_request, settled};

/// List the permissions, questions and plans that wait for a person's answer.
#[derive(Debug, Args)]
#[command(after_help = "\
The waits are those of the hub if --hub, TOMBOLO_HUB or TOMBOLO_HUB_TOKEN is set and no daemon is
named, else those of one daemon.

Examples:
  tombolo waits
  tombolo waits --follow
  tombolo waits show 7f3a
  tombolo waits answer 7f3a allow once
  tombolo waits answer wat_0198c0de 'the second one'
  tombolo waits --endpoint http://127.0.0.1:2468     without a hub: list the waits of one daemon")]
pub(crate) struct WaitsOptions {
    /// Keep running, and print each wait that opens or is settled
    #[arg(long, short)]
    follow: bool,
    #[command(flatten)]
    request: RequestArgs<HubOrDaemonUrl>,
    #[command(subcommand)]
    command: Option<WaitsCommand>,
}

#[derive(Debug, Subcommand)]
enum WaitsCommand {
    /// Print all of a request, and the fingerprint that an answer to it needs, or how it was settled
    #[command(after_help = "\
The list shows the beginning of a long request. To allow it, pass the fingerprint of the whole text
to `waits answer`.

Examples:
  tombolo waits show 7f3a
  tombolo waits show 7f3a --json | jq .fingerprint")]
    Show(ShowArgs),
    /// Answer a wait; the first answer counts
    #[command(after_help = "\
Answer a permission with `allow once`, `allow always` or `deny`. Answer a plan with approve or
reject, or write what to do instead. Answer questions in their order, one argument each: a number, a
label, or your own words if the question accepts them.

A request that the list cuts is accepted only with --seen and the fingerprint that `waits show`
prints, or after you confirmed it on a terminal. Rejecting needs neither.

Examples:
  tombolo waits answer 7f3a allow once
  tombolo waits answer 7f3a allow always --seen 1c4f09ab
  tombolo waits answer 7f3a deny
  tombolo waits answer 7f3a approve
  tombolo waits answer 7f3a Postgres 'tests, docs'
  tombolo waits answer 7f3a --reject")]
    Answer(AnswerArgs),
}

/// Runs `tombolo waits`.
pub(crate) fn run(options: WaitsOptions) -> ExitCode {
    let WaitsOptions { request, follow, command } = options;
    let is_hub = request.url().hub().is_some();
    request.run(WaitsRequest { is_hub, follow, command })
}

struct WaitsRequest {
    is_hub: bool,
    follow: bool,
    command: Option<WaitsCommand>,
}

impl RequestCommand for WaitsRequest {
    async fn run(self, client: &Client, output: CommandOutput) -> CommandResult {
        let source = if self.is_hub { WaitSource::Hub(client) } else { WaitSource::Daemon(client) };
        match self.command {
            Some(_) if self.follow => {
                Err(CommandError::Usage("--follow cannot be combined with `show` or `answer`".into()))
            }
            Some(WaitsCommand::Show(args)) => args.print(&source, output).await,
            Some(WaitsCommand::Answer(args)) => args.send(&source, output).await,
            None if self.follow => source.follow(output).await,
            None => source.list(output).await,
        }
    }
}
