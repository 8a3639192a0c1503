//! Observations over WebSockets, for backends.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket};
use bytes::Bytes;
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use protocol::observation::Trouble;
use tokio::time::{Instant, MissedTickBehavior, timeout};

use crate::{End, Observation};

/// How often a peer is asked whether it is there.
const HEARTBEAT: Duration = Duration::from_secs(20);

/// After how long without a sign of life a peer is taken for lost.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// How long a peer may take to close its side.
const CLOSE_WAIT_MAX: Duration = Duration::from_secs(1);

/// The largest message of a peer, which has nothing to say.
pub const INPUT_BYTES_MAX: usize = 4 << 10;

/// Shows an observation until it ends or the peer leaves.
pub async fn serve(socket: WebSocket, mut observation: Observation) {
    let (mut sender, mut receiver) = socket.split();
    let end = tokio::select! {
        end = show(&mut observation, &mut sender) => end,
        end = listen(&mut receiver) => end,
    };
    let Some(end) = end else { return };
    let reason = end.diagnostic.as_ref().map(|diagnostic| diagnostic.code.clone()).unwrap_or_default();
    let farewell = async {
        if let Some(last) = end.frame().and_then(text) {
            let _ = sender.send(last).await;
        }
        let close = CloseFrame { code: end.code.0, reason: reason.into() };
        let _ = sender.send(Message::Close(Some(close))).await;
        // A connection that is cut while the peer still sends may lose what was sent to it last.
        while let Some(Ok(_)) = receiver.next().await {}
    };
    let _ = timeout(CLOSE_WAIT_MAX, farewell).await;
}

/// Sends what happens; how it ended, or nothing if the peer is gone.
async fn show(observation: &mut Observation, sender: &mut SplitSink<WebSocket, Message>) -> Option<End> {
    let mut heartbeat = tokio::time::interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let sending = async {
            tokio::select! {
                frames = observation.next() => match frames {
                    Ok(frames) => {
                        // One system call for all that there is.
                        for frame in frames.into_iter().filter_map(text) {
                            sender.feed(frame).await.map_err(drop)?;
                        }
                        sender.flush().await.map_err(drop)?;
                        Ok(None)
                    }
                    Err(end) => Ok(Some(end)),
                },
                _ = heartbeat.tick() => {
                    sender.send(Message::Ping(Bytes::new())).await.map_err(drop)?;
                    Ok(None)
                }
            }
        };
        match timeout(SILENCE_MAX, sending).await {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(end))) => return Some(end),
            Ok(Err(())) | Err(_) => return None,
        }
    }
}

/// Hears the peer, which may only show that it is there.
async fn listen(receiver: &mut SplitStream<WebSocket>) -> Option<End> {
    loop {
        match timeout(SILENCE_MAX, receiver.next()).await {
            Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => {}
            Ok(Some(Ok(Message::Text(_) | Message::Binary(_)))) => {
                return Some(End::with(Trouble::ObservationOnly, "this stream can only be listened to"));
            }
            // It has left, or nothing was heard of it for long.
            Ok(Some(Ok(Message::Close(_)) | Err(_)) | None) | Err(_) => return None,
        }
    }
}

/// A frame as a message; all of ours are text.
fn text(frame: Bytes) -> Option<Message> {
    Some(Message::Text(Utf8Bytes::try_from(frame).ok()?))
}
