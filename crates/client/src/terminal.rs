//! The terminal of a process, over a WebSocket.

use bytes::Bytes;
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use protocol::processes::{TerminalCommand, TerminalEvent, TerminalSize};
use reqwest::{RequestBuilder, StatusCode, Upgraded, header};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Message,
        handshake::{client::generate_key, derive_accept_key},
        protocol::Role,
    },
};

use crate::{
    client,
    error::{Error, Result},
};

/// What a terminal says.
#[derive(Debug, Clone, PartialEq)]
pub enum TerminalFrame {
    /// Shows these bytes.
    Output(Bytes),
    /// Says something about itself.
    Event(TerminalEvent),
}

/// What a terminal shows.
#[derive(Debug)]
pub struct TerminalOutput(SplitStream<WebSocketStream<Upgraded>>);

/// What is typed on a terminal.
#[derive(Debug)]
pub struct TerminalInput(SplitSink<WebSocketStream<Upgraded>, Message>);

/// Opens a terminal: both directions, so that each can have its own owner.
pub(crate) async fn open(request: RequestBuilder) -> Result<(TerminalOutput, TerminalInput)> {
    let key = generate_key();
    let request = request
        .header(header::CONNECTION, "upgrade")
        .header(header::UPGRADE, "websocket")
        .header(header::SEC_WEBSOCKET_VERSION, "13")
        .header(header::SEC_WEBSOCKET_KEY, &key);
    let response = client::accepted(request).await?;
    let accept = response.headers().get(header::SEC_WEBSOCKET_ACCEPT);
    let understood =
        accept.is_some_and(|accept| accept.as_bytes() == derive_accept_key(key.as_bytes()).as_bytes());
    if response.status() != StatusCode::SWITCHING_PROTOCOLS || !understood {
        return Err(Error::unexpected(response.status(), "it is not a WebSocket", b""));
    }
    let socket = WebSocketStream::from_raw_socket(response.upgrade().await?, Role::Client, None).await;
    let (input, output) = socket.split();
    Ok((TerminalOutput(output), TerminalInput(input)))
}

impl TerminalOutput {
    /// The next thing it says; `None` once the connection was closed in order. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<TerminalFrame>> {
        loop {
            match self.0.next().await {
                None | Some(Ok(Message::Close(_))) => return Ok(None),
                Some(Ok(Message::Binary(bytes))) => return Ok(Some(TerminalFrame::Output(bytes))),
                Some(Ok(Message::Text(text))) => {
                    let event = serde_json::from_str(&text).map_err(|error| {
                        let reason = format!("a frame cannot be read: {error}");
                        Error::unexpected(StatusCode::SWITCHING_PROTOCOLS, reason, text.as_bytes())
                    })?;
                    return Ok(Some(TerminalFrame::Event(event)));
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(Error::transport(error)),
            }
        }
    }
}

impl TerminalInput {
    /// Types these bytes.
    pub async fn send(&mut self, bytes: Bytes) -> Result<()> {
        self.0.send(Message::Binary(bytes)).await.map_err(Error::transport)
    }

    /// Changes the size of the terminal, for all who look at it.
    pub async fn resize(&mut self, size: TerminalSize) -> Result<()> {
        let TerminalSize { columns, rows } = size;
        let command = serde_json::to_string(&TerminalCommand::Resize { columns, rows }).unwrap_or_default();
        self.0.send(Message::Text(command.into())).await.map_err(Error::transport)
    }

    /// Says goodbye; the process goes on.
    pub async fn close(mut self) -> Result<()> {
        self.0.close().await.map_err(Error::transport)
    }
}
