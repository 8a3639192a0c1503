//! `/v1/workers`: sessions as a backend watches them.

use std::time::Duration;

use protocol::{SessionId, observation::ObservationFrame};
use reqwest::{Method, RequestBuilder, StatusCode};
use tokio_tungstenite::tungstenite::Utf8Bytes;
use websocket::{Disconnected, IncomingMessage, WebSocketReceiver};

use crate::{
    Client,
    error::{Error, Result},
    handshake::{self, WebSocket},
};

/// The workers of a daemon.
#[derive(Debug, Clone, Copy)]
pub struct Workers<'a>(pub(crate) &'a Client);

impl Workers<'_> {
    /// Watches a worker: its snapshot, what happened after `cursor` if there is one, and what happens.
    pub async fn watch(self, id: &SessionId, cursor: Option<&str>) -> Result<Watched> {
        let request = self.0.request(Method::GET, &["v1", "workers", id.as_str(), "events", "ws"]);
        Watched::open(request.query(&[("cursor", cursor)])).await
    }
}

/// How long a server may be silent: it pings every 15 seconds, older ones every 20.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// What happens in a worker.
#[derive(Debug)]
pub struct Watched(WebSocketReceiver<WebSocket>);

impl Watched {
    pub(crate) async fn open(request: RequestBuilder) -> Result<Self> {
        Ok(Self::over(handshake::open(request).await?))
    }

    /// What comes over a WebSocket that is open already.
    pub fn over(socket: WebSocket) -> Self {
        Self(WebSocketReceiver::new(socket, SILENCE_MAX))
    }

    /// Takes the server for lost after this long without a sign of life.
    #[must_use]
    pub fn with_silence_max(mut self, silence_max: Duration) -> Self {
        self.0.set_idle_timeout(silence_max);
        self
    }

    /// The next frame, as it was sent and as it is understood; `None` once the stream was closed. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<(Utf8Bytes, ObservationFrame)>> {
        let Some(text) = self.text().await? else { return Ok(None) };
        let frame = serde_json::from_str(&text).map_err(|error| {
            let reason = format!("a frame cannot be read: {error}");
            Error::unexpected(StatusCode::SWITCHING_PROTOCOLS, reason, text.as_bytes())
        })?;
        Ok(Some((text, frame)))
    }

    /// The next frame, as it was sent; `None` once the stream was closed. Cancel safe.
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
