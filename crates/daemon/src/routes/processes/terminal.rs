//! The terminal of a process over a WebSocket. Binary frames carry its bytes, text frames events and commands.

use std::time::Duration;

use axum::{extract::State, response::Response};
use bytes::Bytes;
use journal::Seq;
use protocol::{
    ProcessId,
    processes::{TerminalCommand, TerminalEvent, TerminalSize},
};
use serde::Deserialize;
use server::{
    ServerWebSocket, WebSocketUpgrade,
    extract::{Path, Query},
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::tungstenite::{
    Message,
    protocol::{CloseFrame, frame::coding::CloseCode},
};
use user_processes::{AttachmentInput, LogFollower, LogItem, ProcessEvent, TerminalAttachment};
use utoipa::IntoParams;
use websocket::{Disconnected, IncomingMessage, KeepAlive, SplitReceiver, WebSocketSender, close_frame};

use super::INPUT_BYTES_MAX;
use crate::{api_error::Result, app::App, routes::Problems};

/// How long to wait before sending input again to a process that does not read.
const BUSY_PAUSE: Duration = Duration::from_millis(10);

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct TerminalQuery {
    /// The number of the last output entry that the client received; all retained output if left out.
    after: Option<u64>,
}

/// Attach to the terminal of a process over a WebSocket.
///
/// Binary frames carry the terminal's bytes in both directions, one frame per output entry. Text frames are JSON: a
/// `TerminalEvent` from the daemon, a `TerminalCommand` to it. The process keeps running when the connection closes.
#[utoipa::path(
    get, path = "/v1/processes/{id}/terminal", tag = "processes",
    params(("id" = String, Path, pattern = "^prc_[0-9a-f]{32}$", description = "The process"), TerminalQuery),
    responses((status = SWITCHING_PROTOCOLS, description = "The WebSocket is open"), Problems)
)]
pub(super) async fn terminal(
    State(app): State<App>,
    Path(id): Path<ProcessId>,
    Query(query): Query<TerminalQuery>,
    upgrade: server::Result<WebSocketUpgrade>,
) -> Result<Response> {
    let attachment = app.processes.attach(id, query.after.map(Seq::new))?;
    Ok(app.sockets.open(upgrade, INPUT_BYTES_MAX, move |socket| session(socket, attachment))?)
}

/// Serves one viewer until the process ends or the viewer leaves.
async fn session(socket: ServerWebSocket, attachment: TerminalAttachment) {
    let TerminalAttachment { events, input } = attachment;
    let (mut sender, mut receiver) = websocket::split(socket, KeepAlive::default());
    let close = tokio::select! {
        close = show_output(events, &mut sender) => close,
        close = take_input(&mut receiver, &input) => close,
    };
    websocket::close(sender, receiver, close.map(|frame| Message::Close(Some(frame)))).await;
}

/// Sends what the terminal shows until the process ends. Returns the close frame, or `None` if the client is lost. A client
/// that is too slow gets a gap event; it never slows down the process or other clients.
async fn show_output<S: AsyncRead + AsyncWrite + Unpin>(
    mut events: LogFollower,
    sender: &mut WebSocketSender<S>,
) -> Option<CloseFrame> {
    let attached = TerminalEvent::Attached { after: events.position().get() };
    sender.send(text(&attached)).await.ok()?;
    loop {
        let message = match sender.ping_until(events.next()).await.ok()? {
            Some(LogItem::Event(_, ProcessEvent::Output(output))) => Message::Binary(output.bytes()),
            Some(LogItem::Event(_, ProcessEvent::Exited(exit))) => {
                let exited =
                    TerminalEvent::Exited { code: exit.code, signal: exit.signal, exited_at: exit.exited_at };
                sender.send(text(&exited)).await.ok()?;
                return Some(closing(CloseCode::Normal, "the process has ended"));
            }
            Some(LogItem::Gap(gap)) => {
                text(&TerminalEvent::Gap { oldest: gap.oldest.get(), newest: gap.newest.get() })
            }
            None => return Some(closing(CloseCode::Normal, "the process has ended")),
        };
        sender.send(message).await.ok()?;
    }
}

/// Types what the client sends, and resizes the terminal. Returns the close frame, or `None` if the client left or is lost.
async fn take_input<S: AsyncRead + AsyncWrite + Unpin>(
    receiver: &mut SplitReceiver<S>,
    input: &AttachmentInput,
) -> Option<CloseFrame> {
    loop {
        match receiver.next().await {
            Ok(IncomingMessage::Binary(bytes)) => type_in(bytes, input).await,
            Ok(IncomingMessage::Text(command)) => {
                if let Err(reason) = run_command(&command, input) {
                    return Some(closing(CloseCode::Invalid, &reason));
                }
            }
            Err(Disconnected::Idle) => {
                return Some(closing(CloseCode::Away, "the client sent nothing, not even a pong"));
            }
            Ok(IncomingMessage::Close(_)) | Err(Disconnected::Ended | Disconnected::Failed(_)) => {
                return None;
            }
        }
    }
}

/// Types `bytes`. While the process does not read, nothing more is taken from the client.
async fn type_in(bytes: Bytes, input: &AttachmentInput) {
    // Other errors mean that the process ended or closed its input. The client learns that from the output stream.
    while let Err(user_processes::Error::Busy(_)) = input.send(bytes.clone()) {
        tokio::time::sleep(BUSY_PAUSE).await;
    }
}

fn run_command(command: &str, input: &AttachmentInput) -> std::result::Result<(), String> {
    let TerminalCommand::Resize { columns, rows } =
        serde_json::from_str(command).map_err(|error| format!("not a command: {error}"))?;
    match input.resize(TerminalSize { columns, rows }) {
        Ok(()) | Err(user_processes::Error::Ended(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

fn text(event: &TerminalEvent) -> Message {
    // Never empty: wire types always serialize.
    Message::Text(serde_json::to_string(event).unwrap_or_default().into())
}

fn closing(code: CloseCode, reason: &str) -> CloseFrame {
    close_frame(code.into(), reason)
}
