//! `tombolo api workers`.

use clap::Subcommand;
use client::{Client, WorkerStream};
use protocol::{
    SessionId, UserName,
    lending::RelayCall,
    observation::{ObservationFrame, StreamControl},
    presence::WorkerPresence,
    relay::{RequestStatus, VirtualPath},
};

use super::operations::mirrors;
use crate::{
    chat::WatchView,
    exit::{CommandError, CommandResult},
    output::CommandOutput,
    server_args::RequestCommand,
};

#[derive(Debug, Subcommand)]
pub(crate) enum DaemonWorkersCommand {
    /// Watch a session through the observation stream, shown as in a chat
    #[command(after_help = "\
The command ends when the session is deleted. To continue after a known event, pass the `cursor` of
its frame (see --json).

Examples:
  tombolo api workers watch demo
  tombolo api workers watch demo --json | jq -c .envelope.payload")]
    Watch {
        /// The session
        id: SessionId,
        /// Continue after the event with this cursor
        #[arg(long)]
        cursor: Option<String>,
    },
}

mirrors! { DaemonWorkersCommand:
    Watch = "watch" GET "/v1/workers/{worker_id}/events/ws";
}

impl RequestCommand for DaemonWorkersCommand {
    fn describe(&self) -> String {
        self.operation().to_string()
    }

    async fn run(self, client: &Client, output: CommandOutput) -> CommandResult {
        let DaemonWorkersCommand::Watch { id, cursor } = self;
        let watched = client.workers().watch(&id, cursor.as_deref()).await?;
        print_frames(watched, cursor.is_some(), output).await
    }
}

/// Shows a session as a chat does, or prints its frames with `--json`, until the stream ends. With `is_continued` the stream begins
/// after a cursor. A diagnostic that closes the stream is the error of the command; others go to stderr.
pub(crate) async fn print_frames(
    mut watched: WorkerStream,
    is_continued: bool,
    output: CommandOutput,
) -> CommandResult {
    let mut view = WatchView::new(is_continued);
    while let Some((text, frame)) = watched.next().await? {
        if !output.json && !matches!(frame, ObservationFrame::Event { .. }) {
            // Notes go to the same terminal.
            view.start_line()?;
        }
        match frame {
            ObservationFrame::Diagnostic { diagnostic } => {
                let message = format!("{} ({})", diagnostic.message, diagnostic.code);
                let stays_open = diagnostic.known().is_some_and(|(_, trouble)| trouble.close().is_none());
                if !stays_open {
                    return Err(CommandError::Missed(message));
                }
                output.print_note(&message);
            }
            _ if output.json => output.line(&text)?,
            ObservationFrame::Event { envelope } => view.show(&envelope)?,
            ObservationFrame::Control { control: StreamControl::Resumed { .. } } => {
                output.print_note("replaying missed events:")
            }
            ObservationFrame::Control { control: StreamControl::Live } => output.print_note("live:"),
            ObservationFrame::Control { control: StreamControl::Presence(presence) } => {
                output.print_note(&describe_presence(&presence))
            }
            ObservationFrame::Control { control: StreamControl::Relay(call) } => {
                output.print_note(&describe_relay_call(&call))
            }
            ObservationFrame::Control { control: StreamControl::Heartbeat | StreamControl::Unknown } => {}
        }
    }
    view.start_line()
}

/// The users of a session on one line.
fn describe_presence(presence: &WorkerPresence) -> String {
    let names = |users: Vec<&UserName>| match users.as_slice() {
        [] => "nobody".to_owned(),
        users => users.iter().map(|user| user.as_str()).collect::<Vec<_>>().join(", "),
    };
    let watching = names(presence.watchers.iter().map(|watcher| &watcher.user).collect());
    let driving = names(presence.drivers.iter().map(|driver| &driver.user).collect());
    format!("watching: {watching}; driving: {driving}")
}

/// A call to a device on one line.
fn describe_relay_call(call: &RelayCall) -> String {
    let target = call.target.as_deref().or(call.virtual_path.as_ref().map(VirtualPath::as_str));
    let result = match (call.status, call.error) {
        (None, _) => "…",
        (Some(RequestStatus::Succeeded), _) => "done",
        (Some(_), Some(code)) => code.as_str(),
        (Some(RequestStatus::Cancelled), None) => "cancelled",
        (Some(RequestStatus::Failed), None) => "failed",
    };
    format!("device {}: {} {} {result}", call.client_id, call.method, target.unwrap_or_default())
}
