//! Both directions of a WebSocket that is open already.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use tokio::time::{Instant, timeout_at};
use tokio_tungstenite::tungstenite::{
    Message, Utf8Bytes,
    protocol::{CloseFrame, frame::coding::CloseCode},
};

use crate::{
    error::{Error, Result},
    websocket::WebSocket,
};

/// What is said on a WebSocket. Signs of life are between neighbours, and not told.
#[derive(Debug, Clone, PartialEq)]
pub enum SocketFrame {
    /// A text.
    Text(Utf8Bytes),
    /// Bytes.
    Binary(Bytes),
    /// Nothing more: the code and the reason, if they were given.
    Close(Option<(u16, String)>),
}

/// What the server says.
#[derive(Debug)]
pub struct SocketReader {
    frames: SplitStream<WebSocket>,
    /// When the server last gave a sign of life, however often somebody has stopped to wait for it.
    heard: Instant,
}

/// What is said to the server.
#[derive(Debug)]
pub struct SocketWriter(SplitSink<WebSocket, Message>);

impl SocketFrame {
    /// Both directions of a WebSocket, so that each can have its own owner.
    pub fn split(socket: WebSocket) -> (SocketReader, SocketWriter) {
        let (writer, frames) = socket.split();
        (SocketReader { frames, heard: Instant::now() }, SocketWriter(writer))
    }
}

impl SocketReader {
    /// The next frame; nothing once the connection has ended. A server that shows no sign of life for `silence_max` is lost.
    /// Cancel safe.
    pub async fn next(&mut self, silence_max: Duration) -> Result<Option<SocketFrame>> {
        loop {
            let message = timeout_at(self.heard + silence_max, self.frames.next()).await;
            let message = message.map_err(Error::transport)?;
            self.heard = Instant::now();
            return Ok(Some(match message {
                None => return Ok(None),
                Some(Ok(Message::Text(text))) => SocketFrame::Text(text),
                Some(Ok(Message::Binary(bytes))) => SocketFrame::Binary(bytes),
                Some(Ok(Message::Close(close))) => {
                    SocketFrame::Close(close.map(|close| (close.code.into(), close.reason.to_string())))
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
                Some(Err(error)) => return Err(Error::transport(error)),
            }));
        }
    }
}

impl SocketWriter {
    /// Says something.
    pub async fn send(&mut self, frame: SocketFrame) -> Result<()> {
        let message = match frame {
            SocketFrame::Text(text) => Message::Text(text),
            SocketFrame::Binary(bytes) => Message::Binary(bytes),
            SocketFrame::Close(close) => Message::Close(
                close.map(|(code, reason)| CloseFrame { code: CloseCode::from(code), reason: reason.into() }),
            ),
        };
        self.0.send(message).await.map_err(Error::transport)
    }
}

#[cfg(test)]
mod tests;
