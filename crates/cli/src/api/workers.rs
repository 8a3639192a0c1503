//! `tombolo api workers`.

use clap::Subcommand;
use client::{Client, Watched};
use protocol::{
    SessionId, UserName,
    lending::RelayCall,
    observation::{Control, Frame},
    presence::Presence,
    relay::{Status, VirtualPath},
};

use super::operations::{Operation, mirrors};
use crate::{
    exit::{Failure, Outcome},
    output::{Output, plain_json},
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Watch a session as a backend does: its snapshot, then what happens
    #[command(after_help = "\
It ends when the session does. A cursor is what a frame called itself; what came after it is shown
again.

Examples:
  tombolo api workers watch demo
  tombolo api workers watch demo --json | jq -c .envelope.payload")]
    Watch {
        /// The session
        id: SessionId,
        /// The cursor of the last event that was seen
        #[arg(long)]
        cursor: Option<String>,
    },
}

mirrors! { Verb:
    Watch = "watch" GET "/v1/workers/{worker_id}/events/ws";
}

impl super::Verb for Verb {
    fn operation(&self) -> &'static Operation {
        self.mirrored()
    }

    async fn run(self, client: &Client, output: Output) -> Outcome {
        let Verb::Watch { id, cursor } = self;
        show(client.workers().watch(&id, cursor.as_deref()).await?, output).await
    }
}

/// Prints what happens until the stream ends. What ends it is told; what does not is said beside it.
pub(crate) async fn show(mut watched: Watched, output: Output) -> Outcome {
    while let Some((text, frame)) = watched.next().await? {
        match frame {
            Frame::Diagnostic { diagnostic } => {
                let told = format!("{} ({})", diagnostic.message, diagnostic.code);
                match diagnostic.known().is_some_and(|(_, trouble)| trouble.close().is_none()) {
                    true => output.talk(&told),
                    false => return Err(Failure::Missed(told)),
                }
            }
            _ if output.json => output.line(&text)?,
            Frame::Event { envelope } => {
                let payload = serde_json::to_string(&envelope.payload).unwrap_or_default();
                output.line(&format!("{}  {}", envelope.event_id, plain_json(payload.as_bytes())))?;
            }
            Frame::Control { control: Control::Resumed { .. } } => output.talk("what was missed:"),
            Frame::Control { control: Control::Live } => output.talk("what happens now:"),
            Frame::Control { control: Control::Presence(presence) } => output.talk(&there(&presence)),
            Frame::Control { control: Control::Relay(call) } => output.talk(&asked(&call)),
            Frame::Control { control: Control::Heartbeat | Control::Unknown } => {}
        }
    }
    Ok(())
}

/// Who is there, in a line.
fn there(presence: &Presence) -> String {
    let names = |users: Vec<&UserName>| match users.as_slice() {
        [] => "nobody".to_owned(),
        users => users.iter().map(|user| user.as_str()).collect::<Vec<_>>().join(", "),
    };
    let watching = names(presence.watchers.iter().map(|watcher| &watcher.user).collect());
    let driving = names(presence.drivers.iter().map(|driver| &driver.user).collect());
    format!("watching: {watching}; driving: {driving}")
}

/// What was asked of a device, in a line.
fn asked(call: &RelayCall) -> String {
    let target = call.target.as_deref().or(call.virtual_path.as_ref().map(VirtualPath::as_str));
    let came = match (call.status, call.error) {
        (None, _) => "…",
        (Some(Status::Succeeded), _) => "done",
        (Some(_), Some(code)) => code.as_str(),
        (Some(Status::Cancelled), None) => "cancelled",
        (Some(Status::Failed), None) => "failed",
    };
    format!("device {}: {} {} {came}", call.client_id, call.method, target.unwrap_or_default())
}
