//! What happens in a worker, over a WebSocket that can only be listened to.

use bytes::Bytes;
use protocol::observation::{DiagnosticKind, ObservationFrame, StreamEnd, StreamLeg};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use utoipa::IntoParams;
use websocket::{IncomingMessage, KeepAlive, SplitReceiver, WebSocketSender, close_frame};

use crate::WebSocket;

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

/// The largest message of a peer, which has nothing to say.
pub const INPUT_BYTES_MAX: usize = 4 << 10;

/// Sends the frames until they end or the peer leaves.
pub async fn serve<O: Observed>(socket: WebSocket, observed: O, keep_alive: KeepAlive) {
    serve_until(socket, observed, keep_alive, std::future::pending()).await;
}

/// Sends the frames until they end, the peer leaves, or `over` resolves, which then says how the stream ends.
pub async fn serve_until<O: Observed>(
    socket: WebSocket,
    mut observed: O,
    keep_alive: KeepAlive,
    over: impl Future<Output = StreamEnd> + Send,
) {
    let (mut sender, mut receiver) = websocket::split(socket, keep_alive);
    let end = tokio::select! {
        biased;
        end = over => Some(end),
        end = send_frames(&mut observed, &mut sender) => end,
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
    observed: &mut impl Observed,
    sender: &mut WebSocketSender<S>,
) -> Option<StreamEnd> {
    loop {
        match sender.ping_until(observed.next()).await.ok()? {
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
        IncomingMessage::Text(_) | IncomingMessage::Binary(_) => {
            Some(StreamEnd::new(leg, DiagnosticKind::ObservationOnly, "this stream can only be listened to"))
        }
        IncomingMessage::Close(_) => None,
    }
}

/// A frame as a message; all of ours are text.
fn text(frame: Bytes) -> Option<Message> {
    Some(Message::Text(Utf8Bytes::try_from(frame).ok()?))
}
