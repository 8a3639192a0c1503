//! `/v1/workers`: sessions as a backend watches them.

use std::time::Duration;

use futures_util::StreamExt;
use protocol::{SessionId, observation::ObservationFrame};
use reqwest::{Method, RequestBuilder, StatusCode};
use tokio::time::{Instant, timeout_at};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use crate::{
    Client,
    error::{Error, Result},
    websocket::{self, WebSocket},
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

/// How long a server may be silent: it sends a sign of life every 20 seconds.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// What happens in a worker.
#[derive(Debug)]
pub struct Watched {
    socket: WebSocket,
    silence_max: Duration,
    /// When the server last gave a sign of life, however often somebody has stopped to wait for it.
    heard: Instant,
}

impl Watched {
    pub(crate) async fn open(request: RequestBuilder) -> Result<Self> {
        Ok(Self::over(websocket::open(request).await?))
    }

    /// What comes over a WebSocket that is open already.
    pub fn over(socket: WebSocket) -> Self {
        Self { socket, silence_max: SILENCE_MAX, heard: Instant::now() }
    }

    /// Takes the server for lost after this long without a sign of life.
    #[must_use]
    pub fn with_silence_max(self, silence_max: Duration) -> Self {
        Self { silence_max, ..self }
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
        loop {
            // Pings count: a worker in which nothing happens is no lost server.
            let message = timeout_at(self.heard + self.silence_max, self.socket.next()).await;
            let message = message.map_err(Error::transport)?;
            self.heard = Instant::now();
            match message {
                None | Some(Ok(Message::Close(_))) => return Ok(None),
                Some(Ok(Message::Text(text))) => return Ok(Some(text)),
                Some(Ok(Message::Binary(bytes))) => {
                    let reason = "a frame is not text";
                    return Err(Error::unexpected(StatusCode::SWITCHING_PROTOCOLS, reason, &bytes));
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(Error::transport(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests;
