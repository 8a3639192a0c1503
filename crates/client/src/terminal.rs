//! The terminal of a process, over a WebSocket.

use bytes::Bytes;
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use protocol::processes::{TerminalCommand, TerminalEvent, TerminalSize};
use reqwest::{RequestBuilder, StatusCode};
use tokio_tungstenite::tungstenite::Message;

use crate::{
    error::{Error, Result},
    websocket_handshake::{self, ClientWebSocket},
};

/// A frame from a terminal.
#[derive(Debug, Clone, PartialEq)]
pub enum TerminalFrame {
    /// Output bytes.
    Output(Bytes),
    /// A change of the terminal's state.
    Event(TerminalEvent),
}

/// The output of a terminal.
#[derive(Debug)]
pub struct TerminalOutput(SplitStream<ClientWebSocket>);

/// The input of a terminal.
#[derive(Debug)]
pub struct TerminalInput(SplitSink<ClientWebSocket, Message>);

/// Opens a terminal. The two directions can have different owners.
pub(crate) async fn open(request: RequestBuilder) -> Result<(TerminalOutput, TerminalInput)> {
    let (input, output) = websocket_handshake::open(request).await?.split();
    Ok((TerminalOutput(output), TerminalInput(input)))
}

impl TerminalOutput {
    /// The next frame; `None` once the connection was closed properly. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<TerminalFrame>> {
        loop {
            match self.0.next().await {
                None | Some(Ok(Message::Close(_))) => return Ok(None),
                Some(Ok(Message::Binary(bytes))) => return Ok(Some(TerminalFrame::Output(bytes))),
                Some(Ok(Message::Text(text))) => {
                    let event = serde_json::from_str(&text).map_err(|error| {
                        let reason = format!("a frame is invalid: {error}");
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
    /// Sends input bytes.
    pub async fn send(&mut self, bytes: Bytes) -> Result<()> {
        self.0.send(Message::Binary(bytes)).await.map_err(Error::transport)
    }

    /// Changes the size of the terminal, for all its viewers.
    pub async fn resize(&mut self, size: TerminalSize) -> Result<()> {
        let TerminalSize { columns, rows } = size;
        let command = serde_json::to_string(&TerminalCommand::Resize { columns, rows }).unwrap_or_default();
        self.0.send(Message::Text(command.into())).await.map_err(Error::transport)
    }

    /// Closes the connection. The process keeps running.
    pub async fn close(mut self) -> Result<()> {
        self.0.close().await.map_err(Error::transport)
    }
}
