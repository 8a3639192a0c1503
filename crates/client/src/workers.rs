//! `/v1/workers`: sessions as a backend watches them.

use futures_util::StreamExt;
use protocol::{SessionId, observation::Frame};
use reqwest::{Method, StatusCode};
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
        Ok(Watched(websocket::open(request.query(&[("cursor", cursor)])).await?))
    }
}

/// What happens in a worker.
#[derive(Debug)]
pub struct Watched(pub(crate) WebSocket);

impl Watched {
    /// The next frame, as it was sent and as it is understood; `None` once the stream was closed. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<(Utf8Bytes, Frame)>> {
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
            match self.0.next().await {
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
