//! A request that becomes a WebSocket.

use reqwest::{RequestBuilder, StatusCode, Upgraded, header};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        handshake::{client::generate_key, derive_accept_key},
        protocol::Role,
    },
};

use crate::{
    client,
    error::{Error, Result},
};

pub(crate) type WebSocket = WebSocketStream<Upgraded>;

/// Asks for a WebSocket; what is refused is told as for any other request.
pub(crate) async fn open(request: RequestBuilder) -> Result<WebSocket> {
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
    Ok(WebSocketStream::from_raw_socket(response.upgrade().await?, Role::Client, None).await)
}
