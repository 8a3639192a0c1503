//! `/v1/workers`: sessions as a hub observes them.

use std::time::Duration;

use protocol::{SessionId, observation::ObservationFrame};
use reqwest::{Method, RequestBuilder, StatusCode};
use tokio_tungstenite::tungstenite::Utf8Bytes;
use websocket::{Disconnected, IncomingMessage, WebSocketReceiver};

use crate::{
    Client,
    error::{Error, Result},
    websocket_handshake::{self, ClientWebSocket},
};

/// The workers of a daemon.
#[derive(Debug, Clone, Copy)]
pub struct WorkersApi<'a>(pub(crate) &'a Client);

impl WorkersApi<'_> {
    /// Observes a session: its snapshot, the events after `cursor` if given, and new events.
    pub async fn watch(self, id: &SessionId, cursor: Option<&str>) -> Result<WorkerStream> {
        let request = self.0.request(Method::GET, &["v1", "workers", id.as_str(), "events", "ws"]);
        WorkerStream::open(request.query(&[("cursor", cursor)])).await
    }
}

/// How long a server may be silent: it pings every 15 seconds, older ones every 20.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// The observation stream of a session.
#[derive(Debug)]
pub struct WorkerStream(WebSocketReceiver<ClientWebSocket>);

impl WorkerStream {
    pub(crate) async fn open(request: RequestBuilder) -> Result<Self> {
        Ok(Self::over(websocket_handshake::open(request).await?))
    }

    /// Reads from an open WebSocket.
    pub fn over(socket: ClientWebSocket) -> Self {
        Self(WebSocketReceiver::new(socket, SILENCE_MAX))
    }

    /// Considers the server lost after this long without a frame or ping.
    #[must_use]
    pub fn with_silence_max(mut self, silence_max: Duration) -> Self {
        self.0.set_idle_timeout(silence_max);
        self
    }

    /// The next frame, as text and parsed; `None` once the stream was closed. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<(Utf8Bytes, ObservationFrame)>> {
        let Some(text) = self.text().await? else { return Ok(None) };
        let frame = serde_json::from_str(&text).map_err(|error| {
            let reason = format!("a frame is invalid: {error}");
            Error::unexpected(StatusCode::SWITCHING_PROTOCOLS, reason, text.as_bytes())
        })?;
        Ok(Some((text, frame)))
    }

    /// The next frame as text; `None` once the stream was closed. Cancel safe.
    pub async fn text(&mut self) -> Result<Option<Utf8Bytes>> {
        match self.0.next().await {
            Ok(IncomingMessage::Text(text)) => Ok(Some(text)),
            Ok(IncomingMessage::Binary(bytes)) => {
                let reason = "a frame is not text";
                Err(Error::unexpected(StatusCode::SWITCHING_PROTOCOLS, reason, &bytes))
            }
            Ok(IncomingMessage::Close(_)) | Err(Disconnected::Ended) => Ok(None),
            Err(error @ (Disconnected::Idle | Disconnected::Failed(_))) => Err(Error::transport(error)),
        }
    }
}

#[cfg(test)]
mod tests;
