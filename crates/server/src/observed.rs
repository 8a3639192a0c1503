//! What happens in a worker, over a WebSocket that can only be listened to.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use protocol::observation::{DiagnosticKind, ObservationFrame, StreamEnd, StreamLeg};
use serde::Deserialize;
use tokio::time::{Instant, MissedTickBehavior, timeout};
use tokio_tungstenite::tungstenite::{self, Message, Utf8Bytes, protocol::CloseFrame};
use utoipa::IntoParams;

use crate::{WebSocket, fragments};

/// What happens in a worker, as frames.
pub trait Observed: Send {
    /// Whose stream it is.
    const LEG: StreamLeg;

    /// The next frames, waiting for them. Cancel safe.
    ///
    /// # Errors
    /// When there are none any more: how it ends.
    fn next(&mut self) -> impl Future<Output = Result<Vec<Bytes>, StreamEnd>> + Send;
}

/// Where to begin.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WatchQuery {
    /// The cursor of the last event that was received; only what happens from now on if left out.
    pub cursor: Option<String>,
}

/// How long a peer is waited for.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// How often a peer is asked whether it is there.
    pub heartbeat: Duration,
    /// After how long without a sign of life, or without taking what is sent, a peer is taken for lost. More than one
    /// heartbeat, or every quiet peer is.
    pub silence_max: Duration,
}

impl Default for Patience {
    /// A heartbeat is due at least every 30 s, and a dead peer must be detected within 90 s.
    fn default() -> Self {
        Self { heartbeat: Duration::from_secs(20), silence_max: Duration::from_secs(60) }
    }
}

/// How long a peer may take to close its side.
const CLOSE_WAIT_MAX: Duration = Duration::from_secs(1);

/// The largest message of a peer, which has nothing to say.
pub const INPUT_BYTES_MAX: usize = 4 << 10;

/// Shows what happens until that ends or the peer leaves.
pub async fn serve<O: Observed>(socket: WebSocket, observed: O, patience: Patience) {
    serve_until(socket, observed, patience, std::future::pending()).await;
}

/// The same, at most until `over` says how it ends.
pub async fn serve_until<O: Observed>(
    socket: WebSocket,
    mut observed: O,
    patience: Patience,
    over: impl Future<Output = StreamEnd> + Send,
) {
    let (mut sender, mut receiver) = socket.split();
    let end = tokio::select! {
        biased;
        end = over => Some(end),
        end = show(&mut observed, &mut sender, patience) => end,
        end = listen(&mut receiver, O::LEG, patience) => end,
    };
    let Some(end) = end else { return };
    let reason = end.diagnostic.as_ref().map(|diagnostic| diagnostic.code.clone()).unwrap_or_default();
    let farewell = async {
        if let Some(diagnostic) = end.diagnostic {
            // A wire type always can be serialised.
            let last =
                serde_json::to_string(&ObservationFrame::Diagnostic { diagnostic }).unwrap_or_default();
            let _ = sender.send(Message::Text(last.into())).await;
        }
        let close = CloseFrame { code: end.code.0.into(), reason: reason.into() };
        let _ = sender.send(Message::Close(Some(close))).await;
        // A connection that is cut while the peer still sends may lose what was sent to it last.
        while let Some(Ok(_)) = receiver.next().await {}
    };
    let _ = timeout(CLOSE_WAIT_MAX, farewell).await;
}

/// Sends what happens; how it ended, or nothing if the peer is gone.
async fn show(
    observed: &mut impl Observed,
    sender: &mut SplitSink<WebSocket, Message>,
    patience: Patience,
) -> Option<StreamEnd> {
    let mut heartbeat = tokio::time::interval_at(Instant::now() + patience.heartbeat, patience.heartbeat);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let messages = tokio::select! {
            frames = observed.next() => match frames {
                Ok(frames) => frames.into_iter().filter_map(text).collect(),
                Err(end) => return Some(end),
            },
            _ = heartbeat.tick() => vec![Message::Ping(Bytes::new())],
        };
        timeout(patience.silence_max, send(sender, messages)).await.ok()?.ok()?;
    }
}

/// Sends all of them with one system call, if they are small.
async fn send(
    sender: &mut SplitSink<WebSocket, Message>,
    messages: Vec<Message>,
) -> Result<(), tungstenite::Error> {
    for frame in messages.into_iter().flat_map(fragments) {
        sender.feed(frame).await?;
    }
    sender.flush().await
}

/// Hears the peer, which may only show that it is there.
async fn listen(
    receiver: &mut SplitStream<WebSocket>,
    leg: StreamLeg,
    patience: Patience,
) -> Option<StreamEnd> {
    loop {
        match timeout(patience.silence_max, receiver.next()).await {
            // Frames are put together before anybody hears of them.
            Ok(Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_)))) => {}
            Ok(Some(Ok(Message::Text(_) | Message::Binary(_)))) => {
                return Some(StreamEnd::new(
                    leg,
                    DiagnosticKind::ObservationOnly,
                    "this stream can only be listened to",
                ));
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
