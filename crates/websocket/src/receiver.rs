use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use tokio::time::{Instant, timeout_at};
use tokio_tungstenite::tungstenite::{self, Message, Utf8Bytes, protocol::CloseFrame};

use crate::Disconnected;

/// A message of the peer. Pings and pongs are dealt with before the caller sees them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IncomingMessage {
    /// A text message.
    Text(Utf8Bytes),
    /// A binary message.
    Binary(Bytes),
    /// The peer closes the connection.
    Close(Option<CloseFrame>),
}

/// The receiving half of a connection. It reports a peer that gives no sign of life.
#[derive(Debug)]
pub struct WebSocketReceiver<R> {
    stream: R,
    idle_timeout: Duration,
    /// Since when the caller has waited without a sign of life. It is kept over cancelled calls to `next`, so that a caller
    /// who polls in a `select!` loop notices a lost peer too; and it is cleared while the caller is busy with a message,
    /// because the peer is not to blame for that time.
    waiting_since: Option<Instant>,
}

impl<R: Stream<Item = Result<Message, tungstenite::Error>> + Unpin> WebSocketReceiver<R> {
    /// Receives from `stream`, whose peer is lost if it sends nothing for `idle_timeout`.
    pub fn new(stream: R, idle_timeout: Duration) -> Self {
        Self { stream, idle_timeout, waiting_since: None }
    }

    /// Changes after how long a silent peer is lost.
    pub fn set_idle_timeout(&mut self, idle_timeout: Duration) {
        self.idle_timeout = idle_timeout;
    }

    /// Waits for the next message. Cancel safe.
    ///
    /// # Errors
    /// If the connection is lost, or the peer gave no sign of life for the idle timeout.
    pub async fn next(&mut self) -> Result<IncomingMessage, Disconnected> {
        loop {
            let since = *self.waiting_since.get_or_insert_with(Instant::now);
            let message = timeout_at(since + self.idle_timeout, self.stream.next()).await;
            let message = message.map_err(|_| Disconnected::Idle)?;
            self.waiting_since = None;
            match message.ok_or(Disconnected::Ended)?? {
                Message::Text(text) => return Ok(IncomingMessage::Text(text)),
                Message::Binary(bytes) => return Ok(IncomingMessage::Binary(bytes)),
                Message::Close(frame) => return Ok(IncomingMessage::Close(frame)),
                // `tungstenite` answers pings and joins fragments itself.
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
    }

    /// Reads and ignores everything up to the end of the connection.
    pub(crate) async fn drain(&mut self) {
        while let Some(Ok(_)) = self.stream.next().await {}
    }
}
