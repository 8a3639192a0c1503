//! Opens WebSockets.

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use reqwest::RequestBuilder;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        handshake::{client::generate_key, derive_accept_key},
        protocol::{Role, WebSocketConfig},
    },
};

use crate::{
    client,
    error::{Error, Result},
};

/// An open WebSocket to a server.
pub type ClientWebSocket = WebSocketStream<TokioIo<Upgraded>>;

/// The handshake of one WebSocket: the headers of the request, and the check of the response.
#[derive(Debug)]
pub struct WebSocketHandshake {
    key: String,
}

impl WebSocketHandshake {
    /// A handshake with a new random key.
    #[expect(clippy::new_without_default, reason = "each handshake has a random key")]
    pub fn new() -> Self {
        Self { key: generate_key() }
    }

    /// The headers of the request.
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        // Never empty: base64 is valid in a header.
        let key = HeaderValue::try_from(&self.key).unwrap_or(HeaderValue::from_static(""));
        headers.insert(header::SEC_WEBSOCKET_KEY, key);
        headers
    }

    /// Turns the response into a WebSocket.
    ///
    /// # Errors
    /// If the server did not accept the handshake.
    pub async fn finish<B>(self, response: Response<B>) -> Result<ClientWebSocket> {
        self.finish_with(response, None).await
    }

    /// Like [`finish`](Self::finish), with limits for messages and buffers.
    async fn finish_with<B>(
        self,
        response: Response<B>,
        config: Option<WebSocketConfig>,
    ) -> Result<ClientWebSocket> {
        let status = response.status();
        let accept = response.headers().get(header::SEC_WEBSOCKET_ACCEPT);
        let is_accepted = accept
            .is_some_and(|accept| accept.as_bytes() == derive_accept_key(self.key.as_bytes()).as_bytes());
        if status != StatusCode::SWITCHING_PROTOCOLS || !is_accepted {
            return Err(Error::unexpected(status, "the server did not open a WebSocket", b""));
        }
        let upgraded = hyper::upgrade::on(response).await.map_err(Error::transport)?;
        Ok(WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Client, config).await)
    }
}

/// Opens a WebSocket. A problem document is an error, as for any other request.
pub(crate) async fn open(request: RequestBuilder) -> Result<ClientWebSocket> {
    open_with(request, None).await
}

/// Like [`open`], with limits for messages and buffers.
pub(crate) async fn open_with(
    request: RequestBuilder,
    config: Option<WebSocketConfig>,
) -> Result<ClientWebSocket> {
    let handshake = WebSocketHandshake::new();
    let response = client::send_checked(request.headers(handshake.headers())).await?;
    handshake.finish_with(Response::<reqwest::Body>::from(response), config).await
}
