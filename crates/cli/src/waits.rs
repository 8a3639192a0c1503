//! `tombolo waits`: what waits for a person, in all sandboxes of a hub or in one, and the answers.

mod answer;
mod place;
mod view;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::{
    exit::{self, Failure, Outcome},
    output::Output,
};
use answer::Reply;
use place::{Connection, Place};

pub(crate) use view::{age, follow, kind, settled};

/// What waits for a person.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tombolo waits
  tombolo waits --follow
  tombolo waits answer 7f3a allow
  tombolo waits answer wat_0198c0de 'the second one'
  tombolo waits --endpoint http://127.0.0.1:2468     without a hub: ask a daemon")]
pub(crate) struct WaitsOptions {
    /// Go on with what is asked and settled from now on
    #[arg(long, short)]
    follow: bool,
    #[command(flatten)]
    connection: Connection,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Answer what is asked; the first answer holds
    #[command(after_help = "\
To a permission: allow, always or deny. To a plan: approve or reject, or what to do instead. To
questions: one answer each, in their order; a number, a label, or words of your own where they are
taken.

Examples:
  tombolo waits answer 7f3a allow
  tombolo waits answer 7f3a approve
  tombolo waits answer 7f3a Postgres 'tests, docs'
  tombolo waits answer 7f3a --reject")]
    Answer(Reply),
}

/// Lists, follows or answers.
pub(crate) fn run(options: WaitsOptions) -> ExitCode {
    let WaitsOptions { connection, follow, command } = options;
    let (json, doing) = (connection.json, connection.doing());
    let outcome = connection.place().and_then(|place| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(ask(&place, follow, command, Output { json }))
    });
    exit::report(outcome, json, &doing)
}

async fn ask(place: &Place, follow: bool, command: Option<Command>, output: Output) -> Outcome {
    match command {
        Some(Command::Answer(_)) if follow => {
            Err(Failure::Usage("--follow is for what waits, not for an answer".into()))
        }
        Some(Command::Answer(reply)) => reply.send(place, output).await,
        None if follow => place.follow(output).await,
        None => place.list(output).await,
    }
}
