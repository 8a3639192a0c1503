//! The terminal of a process over a WebSocket: binary frames are its bytes, text frames are about it.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use axum::{extract::State, response::Response};
use bytes::Bytes;
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use journal::Seq;
use protocol::{
    ProcessId,
    processes::{TerminalCommand, TerminalEvent, TerminalSize},
};
use serde::Deserialize;
use server::{
    WebSocket, WebSocketUpgrade,
    extract::{Path, Query},
};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_tungstenite::tungstenite::{
    Message,
    protocol::{CloseFrame, frame::coding::CloseCode},
};
use user_processes::{Attachment, Event, Follower, Input, Item};
use utoipa::IntoParams;

use super::INPUT_BYTES_MAX;
use crate::{api_error::Result, app::App, routes::Problems};

/// Proxies close what is silent for long; 15 s is below all common limits.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// After how many heartbeats without a sign of life a client is taken for lost.
const SILENT_HEARTBEATS_MAX: u32 = 3;

/// How long a client may take to close its side.
const CLOSE_WAIT_MAX: Duration = Duration::from_secs(1);

/// How long to wait before typing again on a terminal whose process does not read.
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// The longest reason that fits into a close frame.
const REASON_BYTES_MAX: usize = 123;

#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct TerminalQuery {
    /// The number of the last piece that was seen; everything that is kept is shown if left out.
    after: Option<u64>,
}

/// Look at the terminal of a process and type on it, over a WebSocket.
///
/// Binary frames are the terminal's bytes, both ways, one frame for each piece that was shown. Text frames are JSON: a
/// `TerminalEvent` from the daemon, a `TerminalCommand` to it. The process goes on when the connection is closed.
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
async fn session(socket: WebSocket, attachment: Attachment) {
    let Attachment { events, input } = attachment;
    let (mut sender, mut receiver) = socket.split();
    let heard = AtomicBool::new(true);
    let close = tokio::select! {
        close = show(events, &mut sender, &heard) => close,
        close = take(&mut receiver, &input, &heard) => close,
    };
    let farewell = async {
        if let Some(close) = close {
            let _ = sender.send(Message::Close(Some(close))).await;
        }
        // A connection that is cut while the client still sends may lose what was sent to it last.
        while let Some(Ok(_)) = receiver.next().await {}
    };
    let _ = tokio::time::timeout(CLOSE_WAIT_MAX, farewell).await;
}

/// Sends what is shown, to the end of the process. A slow client is late, and told so, but holds up nobody.
async fn show(
    mut events: Follower,
    sender: &mut SplitSink<WebSocket, Message>,
    heard: &AtomicBool,
) -> Option<CloseFrame> {
    let mut heartbeat = tokio::time::interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut silent = 0;
    let attached = TerminalEvent::Attached { after: events.position().get() };
    sender.send(text(&attached)).await.ok()?;
    loop {
        let message = tokio::select! {
            item = events.next() => match item {
                Some(Item::Event(_, Event::Output(output))) => Message::Binary(output.bytes()),
                Some(Item::Event(_, Event::Exited(exit))) => {
                    let exited = TerminalEvent::Exited { code: exit.code, signal: exit.signal, at: exit.at };
                    sender.send(text(&exited)).await.ok()?;
                    return Some(closing(CloseCode::Normal, "the process has ended"));
                }
                Some(Item::Gap(gap)) => {
                    text(&TerminalEvent::Gap { oldest: gap.oldest.get(), newest: gap.newest.get() })
                }
                None => return Some(closing(CloseCode::Normal, "the process has ended")),
            },
            _ = heartbeat.tick() => {
                silent = if heard.swap(false, Ordering::Relaxed) { 0 } else { silent + 1 };
                if silent >= SILENT_HEARTBEATS_MAX {
                    return Some(closing(CloseCode::Away, "nothing was heard of the client"));
                }
                Message::Ping(Bytes::new())
            }
        };
        sender.send(message).await.ok()?;
    }
}

/// Takes what is typed and asked for, until the client leaves or says what nobody understands.
async fn take(
    receiver: &mut SplitStream<WebSocket>,
    input: &Input,
    heard: &AtomicBool,
) -> Option<CloseFrame> {
    while let Some(Ok(message)) = receiver.next().await {
        heard.store(true, Ordering::Relaxed);
        match message {
            Message::Binary(bytes) => type_in(bytes, input, heard).await,
            Message::Text(command) => {
                if let Err(reason) = obey(&command, input) {
                    return Some(closing(CloseCode::Invalid, &reason));
                }
            }
            // Frames are put together before anybody hears of them.
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            Message::Close(_) => return None,
        }
    }
    None
}

/// Types `bytes`. While the process does not read, nothing more is taken from the client.
async fn type_in(bytes: Bytes, input: &Input, heard: &AtomicBool) {
    // Once it has ended or takes no more, there is nobody to tell but who sees its end.
    while let Err(user_processes::Error::Busy(_)) = input.send(bytes.clone()) {
        heard.store(true, Ordering::Relaxed);
        tokio::time::sleep(BUSY_PAUSE).await;
    }
}

fn obey(command: &str, input: &Input) -> std::result::Result<(), String> {
    let TerminalCommand::Resize { columns, rows } =
        serde_json::from_str(command).map_err(|error| format!("not a command: {error}"))?;
    match input.resize(TerminalSize { columns, rows }) {
        Ok(()) | Err(user_processes::Error::Ended(_)) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

fn text(event: &TerminalEvent) -> Message {
    // Our own types always have a JSON form.
    Message::Text(serde_json::to_string(event).unwrap_or_default().into())
}

fn closing(code: CloseCode, reason: &str) -> CloseFrame {
    let reason = &reason[..reason.floor_char_boundary(REASON_BYTES_MAX)];
    CloseFrame { code, reason: reason.into() }
}
