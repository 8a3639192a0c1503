//! A WebSocket between somebody and a runtime, passed on frame by frame.
//!
//! One frame at a time is held in each direction: who does not read holds up who speaks to them, and nobody else.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use client::{Handshake, SocketFrame, SocketReader, SocketWriter};
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use http::{Request, Response, StatusCode};
use protocol::observation::StreamCloseCode;
use server::{WebSocket, fragments, observed::Patience};
use tokio::time::{Instant, MissedTickBehavior, timeout};
use tokio_tungstenite::tungstenite::{self, Message, Utf8Bytes, protocol::CloseFrame};
use tokio_util::sync::CancellationToken;

use crate::{
    Down, Runtime,
    permit::{Permit, Revoked},
    runtime::ANSWER_MAX,
};

/// The largest message of somebody; the same as what a terminal takes.
pub(crate) const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// How long either side may take to close.
const CLOSE_WAIT_MAX: Duration = Duration::from_secs(1);

/// How a side closed: with a code and a reason, or without.
type Closing = Option<(u16, String)>;

/// Who ended it, and how.
enum Ended {
    They(Closing),
    Runtime(Closing),
    We(StreamCloseCode, String),
}

/// What came of asking for a WebSocket.
pub(crate) enum Opened {
    /// It is open: both directions.
    Ends((SocketReader, SocketWriter)),
    /// It was answered otherwise.
    Not(Response<Body>),
}

/// Asks a runtime for a WebSocket.
pub(crate) async fn open(runtime: &dyn Runtime, mut request: Request<Body>) -> Result<Opened, Down> {
    let handshake = Handshake::new();
    request.headers_mut().extend(handshake.headers());
    let opening = async {
        let response = runtime.send(request).await?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Ok(Opened::Not(response));
        }
        let socket = handshake.finish(response).await.map_err(|_| Down::Malformed)?;
        Ok(Opened::Ends(SocketFrame::split(socket)))
    };
    timeout(ANSWER_MAX, opening).await.unwrap_or(Err(Down::Unreachable))
}

/// Passes on what both sides say until one of them closes, `stop`, or the end of the permit. How it closed is passed on too.
pub(crate) async fn pass(
    socket: WebSocket,
    (mut from, mut to): (SocketReader, SocketWriter),
    patience: Patience,
    (stop, permit): (CancellationToken, Permit),
) {
    let (mut sender, mut receiver) = socket.split();
    let ended = tokio::select! {
        biased;
        () = stop.cancelled() => Ended::We(StreamCloseCode::AWAY, "the hub is shutting down".into()),
        () = permit.ended() => Ended::We(StreamCloseCode::POLICY, Revoked.to_string()),
        ended = down(&mut from, &mut sender, patience) => ended,
        ended = up(&mut receiver, &mut to, patience) => ended,
    };
    let (theirs, runtimes) = match ended {
        Ended::They(closing) => (None, Some(closing)),
        Ended::Runtime(closing) => (Some(closing), None),
        Ended::We(StreamCloseCode(code), reason) => {
            (Some(Some((code, reason))), Some(Some((code, String::new()))))
        }
    };
    let farewell = async {
        if let Some(closing) = runtimes {
            let _ = to.send(SocketFrame::Close(closing)).await;
        }
        if let Some(closing) = theirs {
            let close = closing.map(|(code, reason)| CloseFrame { code: code.into(), reason: reason.into() });
            let _ = sender.send(Message::Close(close)).await;
        }
        // A connection that is cut while they still send may lose what was sent to them last.
        while let Some(Ok(_)) = receiver.next().await {}
    };
    let _ = timeout(CLOSE_WAIT_MAX, farewell).await;
}

/// What the runtime says, until it closes or is lost. In between they are asked whether they are there.
async fn down(
    from: &mut SocketReader,
    sender: &mut SplitSink<WebSocket, Message>,
    patience: Patience,
) -> Ended {
    let mut heartbeat = tokio::time::interval_at(Instant::now() + patience.heartbeat, patience.heartbeat);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            frame = from.next(patience.silence_max) => match frame {
                Ok(Some(SocketFrame::Text(text))) => match Utf8Bytes::try_from(Bytes::from(text)) {
                    Ok(text) => Message::Text(text),
                    // It was a text when it came.
                    Err(_) => continue,
                },
                Ok(Some(SocketFrame::Binary(bytes))) => Message::Binary(bytes),
                Ok(Some(SocketFrame::Close(closing))) => return Ended::Runtime(closing),
                Ok(None) | Err(_) => return lost(),
            },
            _ = heartbeat.tick() => Message::Ping(Bytes::new()),
        };
        match timeout(patience.silence_max, send(sender, message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return Ended::They(None),
        }
    }
}

async fn send(
    sender: &mut SplitSink<WebSocket, Message>,
    message: Message,
) -> Result<(), tungstenite::Error> {
    for frame in fragments(message) {
        sender.feed(frame).await?;
    }
    sender.flush().await
}

/// What they say, until they close or nothing was heard of them for long.
async fn up(receiver: &mut SplitStream<WebSocket>, to: &mut SocketWriter, patience: Patience) -> Ended {
    loop {
        let frame = match timeout(patience.silence_max, receiver.next()).await {
            Ok(Some(Ok(Message::Text(text)))) => SocketFrame::Text(text.as_str().into()),
            Ok(Some(Ok(Message::Binary(bytes)))) => SocketFrame::Binary(bytes),
            // Frames are put together before anybody hears of them.
            Ok(Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)))) => continue,
            Ok(Some(Ok(Message::Close(close)))) => {
                return Ended::They(close.map(|close| (close.code.into(), close.reason.to_string())));
            }
            Ok(Some(Err(_)) | None) | Err(_) => return Ended::They(None),
        };
        if to.send(frame).await.is_err() {
            return lost();
        }
    }
}

fn lost() -> Ended {
    Ended::We(StreamCloseCode::TRY_LATER, "the runtime was lost".into())
}
