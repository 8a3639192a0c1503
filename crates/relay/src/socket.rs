//! A transport over a WebSocket.

use std::task::{Context, Poll, ready};

use futures_util::{SinkExt, StreamExt};
use protocol::relay::Packet;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        self, Message,
        error::CapacityError,
        protocol::{CloseFrame, WebSocketConfig},
    },
};

use crate::{CloseCode, Limits, Lost, Transport};

/// The size of the write buffer. Urgent messages cannot overtake what is in it, so it is small.
const WRITE_BYTES_MAX: usize = 16 << 10;

/// The size of a read. The buffer is zeroed before each, so a large one would slow down small messages.
const READ_BYTES: usize = 32 << 10;

/// The configuration for opening the WebSocket. With it, a message that is too large is never buffered.
pub fn config(limits: &Limits) -> WebSocketConfig {
    WebSocketConfig::default()
        .max_message_size(Some(limits.frame_bytes_max))
        .max_frame_size(Some(limits.frame_bytes_max))
        .read_buffer_size(READ_BYTES)
        .write_buffer_size(WRITE_BYTES_MAX)
}

/// A transport over a WebSocket.
#[derive(Debug)]
pub struct Socket<S>(WebSocketStream<S>);

impl<S> Socket<S> {
    /// A transport over a WebSocket that was opened with [`config`].
    pub fn new(socket: WebSocketStream<S>) -> Self {
        Self(socket)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> Transport for Socket<S> {
    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Result<Packet, Lost>> {
        loop {
            return Poll::Ready(match ready!(self.0.poll_next_unpin(context)) {
                Some(Ok(Message::Text(text))) => Ok(Packet::Text(text.as_str().to_owned())),
                Some(Ok(Message::Binary(bytes))) => Ok(Packet::Binary(bytes)),
                Some(Ok(Message::Close(Some(frame)))) => {
                    Err(Lost::Closed { code: frame.code.into(), reason: frame.reason.as_str().to_owned() })
                }
                Some(Ok(Message::Close(None))) | None => Err(Lost::Gone),
                // The library responds to pings itself.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
                Some(Err(error)) => Err(lost(&error)),
            });
        }
    }

    fn carries_bytes(&self) -> bool {
        true
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        self.0.poll_ready_unpin(context).map_err(|error| lost(&error))
    }

    fn send(&mut self, packet: Packet) -> Result<(), Lost> {
        let message = match packet {
            Packet::Text(text) => Message::text(text),
            Packet::Binary(bytes) => Message::Binary(bytes),
        };
        self.0.start_send_unpin(message).map_err(|error| lost(&error))
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Lost>> {
        self.0.poll_flush_unpin(context).map_err(|error| lost(&error))
    }

    fn close(&mut self, code: CloseCode, reason: String) {
        let frame = CloseFrame { code: code.number().into(), reason: reason.into() };
        // The peer may have disconnected.
        let _ = self.0.start_send_unpin(Message::Close(Some(frame)));
    }
}

fn lost(error: &tungstenite::Error) -> Lost {
    match error {
        tungstenite::Error::Capacity(CapacityError::MessageTooLong { .. }) => {
            Lost::fault(CloseCode::TooLarge, "the message is too large")
        }
        tungstenite::Error::Utf8(_) => Lost::fault(CloseCode::Invalid, "the message is not UTF-8 text"),
        tungstenite::Error::ConnectionClosed | tungstenite::Error::AlreadyClosed => Lost::Gone,
        other => Lost::Failed(other.to_string()),
    }
}
