//! The parts that every long-lived WebSocket needs, on top of `tokio-tungstenite`.
//!
//! [`split`] divides a connection into a [`WebSocketSender`], which pings the peer and bounds how long a send may take,
//! and a [`WebSocketReceiver`], which reports a peer that gives no sign of life. [`close()`] does the close handshake, and
//! [`proxy()`] forwards one connection to another. Messages are moved, never copied, and nothing is allocated for each.
//!
//! Which messages are exchanged, and what they mean, is up to the caller.

mod close;
mod disconnected;
mod fragments;
mod keep_alive;
mod proxy;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use futures_util::StreamExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};

pub use close::{CLOSE_WAIT_MAX, close, close_frame};
pub use disconnected::Disconnected;
pub use fragments::{FRAME_BYTES_MAX, fragments};
pub use keep_alive::KeepAlive;
pub use proxy::proxy;
pub use receiver::{IncomingMessage, WebSocketReceiver};
pub use sender::WebSocketSender;

/// The receiving half of a connection that was [`split`].
pub type SplitReceiver<S> = WebSocketReceiver<futures_util::stream::SplitStream<WebSocketStream<S>>>;

/// Divides a connection, so that each direction can be driven by its own loop.
pub fn split<S: AsyncRead + AsyncWrite + Unpin>(
    socket: WebSocketStream<S>,
    keep_alive: KeepAlive,
) -> (WebSocketSender<S>, SplitReceiver<S>) {
    let (sink, stream) = StreamExt::split::<Message>(socket);
    (WebSocketSender::new(sink, keep_alive), WebSocketReceiver::new(stream, keep_alive.idle_timeout))
}
