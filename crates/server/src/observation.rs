//! Serves an observation stream over a read-only WebSocket.

use bytes::Bytes;
use protocol::observation::{DiagnosticKind, ObservationFrame, StreamEnd, StreamLeg};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use utoipa::IntoParams;
use websocket::{IncomingMessage, KeepAlive, SplitReceiver, WebSocketSender, close_frame};

use crate::ServerWebSocket;

/// The source of an observation stream.
pub trait ObservationSource: Send {
    /// The part of the way from daemon to viewer that this stream serves.
    const LEG: StreamLeg;

    /// The next frames, waiting for them. Cancel safe.
    ///
    /// # Errors
    /// The end of the stream.
    fn next(&mut self) -> impl Future<Output = Result<Vec<Bytes>, StreamEnd>> + Send;
}

/// The position at which to start.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WatchQuery {
    /// The cursor of the last received event; only new events if left out.
    pub cursor: Option<String>,
}

/// The largest message from the peer. It may send none, so this only bounds the memory.
pub const INPUT_BYTES_MAX: usize = 4 << 10;

/// Sends the frames until they end or the peer leaves.
pub async fn serve<O: ObservationSource>(socket: ServerWebSocket, source: O, keep_alive: KeepAlive) {
    serve_until(socket, source, keep_alive, std::future::pending()).await;
}

/// Sends the frames until they end, the peer leaves, or `stop` resolves, which then decides how the stream ends.
pub async fn serve_until<O: ObservationSource>(
    socket: ServerWebSocket,
    mut source: O,
    keep_alive: KeepAlive,
    stop: impl Future<Output = StreamEnd> + Send,
) {
    let (mut sender, mut receiver) = websocket::split(socket, keep_alive);
    let end = tokio::select! {
        biased;
        end = stop => Some(end),
        end = send_frames(&mut source, &mut sender) => end,
        end = reject_messages(&mut receiver, O::LEG) => end,
    };
    let Some(end) = end else { return };
    let reason = end.diagnostic.as_ref().map(|diagnostic| diagnostic.code.clone()).unwrap_or_default();
    let diagnostic = end.diagnostic.map(|diagnostic| {
        // Our wire types can always be serialised.
        let text = serde_json::to_string(&ObservationFrame::Diagnostic { diagnostic }).unwrap_or_default();
        Message::Text(text.into())
    });
    let close = Message::Close(Some(close_frame(end.code.0, &reason)));
    websocket::close(sender, receiver, diagnostic.into_iter().chain([close])).await;
}

/// Sends the frames. Returns how they end, or `None` if the peer is lost.
async fn send_frames<S: AsyncRead + AsyncWrite + Unpin>(
    source: &mut impl ObservationSource,
    sender: &mut WebSocketSender<S>,
) -> Option<StreamEnd> {
    loop {
        match sender.ping_until(source.next()).await.ok()? {
            Ok(frames) => sender.send_all(frames.into_iter().filter_map(text)).await.ok()?,
            Err(end) => return Some(end),
        }
    }
}

/// Reads from the peer, which may send nothing but pongs. Returns how the stream ends if it does, or `None` if it is lost.
async fn reject_messages<S: AsyncRead + AsyncWrite + Unpin>(
    receiver: &mut SplitReceiver<S>,
    leg: StreamLeg,
) -> Option<StreamEnd> {
    match receiver.next().await.ok()? {
        IncomingMessage::Text(_) | IncomingMessage::Binary(_) => Some(StreamEnd::new(
            leg,
            DiagnosticKind::ObservationOnly,
            "this stream is read-only: send commands to the other routes",
        )),
        IncomingMessage::Close(_) => None,
    }
}

/// The WebSocket message for a frame. All our frames are text.
fn text(frame: Bytes) -> Option<Message> {
    Some(Message::Text(Utf8Bytes::try_from(frame).ok()?))
}
