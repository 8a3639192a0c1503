//! A request that becomes a WebSocket.

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

/// A WebSocket of a server.
pub type WebSocket = WebSocketStream<TokioIo<Upgraded>>;

/// A request for a WebSocket, and what its answer has to say.
#[derive(Debug)]
pub struct Handshake {
    key: String,
}

impl Handshake {
    /// A new one for each request.
    #[expect(clippy::new_without_default, reason = "no two are the same")]
    pub fn new() -> Self {
        Self { key: generate_key() }
    }

    /// What the request says.
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        // It is base64.
        let key = HeaderValue::try_from(&self.key).unwrap_or(HeaderValue::from_static(""));
        headers.insert(header::SEC_WEBSOCKET_KEY, key);
        headers
    }

    /// The WebSocket that the request was answered with.
    ///
    /// # Errors
    /// If it was answered with something else.
    pub async fn finish<B>(self, response: Response<B>) -> Result<WebSocket> {
        self.finish_with(response, None).await
    }

    /// The same, with limits of its own.
    async fn finish_with<B>(
        self,
        response: Response<B>,
        config: Option<WebSocketConfig>,
    ) -> Result<WebSocket> {
        let status = response.status();
        let accept = response.headers().get(header::SEC_WEBSOCKET_ACCEPT);
        let understood = accept
            .is_some_and(|accept| accept.as_bytes() == derive_accept_key(self.key.as_bytes()).as_bytes());
        if status != StatusCode::SWITCHING_PROTOCOLS || !understood {
            return Err(Error::unexpected(status, "it is not a WebSocket", b""));
        }
        let upgraded = hyper::upgrade::on(response).await.map_err(Error::transport)?;
        Ok(WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Client, config).await)
    }
}

/// Asks for a WebSocket; what is refused is told as for any other request.
pub(crate) async fn open(request: RequestBuilder) -> Result<WebSocket> {
    open_with(request, None).await
}

/// The same, with limits of its own.
pub(crate) async fn open_with(request: RequestBuilder, config: Option<WebSocketConfig>) -> Result<WebSocket> {
    let handshake = Handshake::new();
    let response = client::accepted(request.headers(handshake.headers())).await?;
    handshake.finish_with(Response::<reqwest::Body>::from(response), config).await
}
