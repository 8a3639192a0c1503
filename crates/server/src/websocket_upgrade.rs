//! A request to upgrade its connection to a WebSocket.

use axum::{body::Body, extract::FromRequestParts, response::Response};
use http::{Request, header, request::Parts};
use hyper::upgrade::OnUpgrade;
use protocol::ProblemKind;
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;

use crate::{ProblemResponse, subprotocol};

/// A valid request to upgrade its connection to a WebSocket, for [`OpenWebSockets::open`](crate::OpenWebSockets::open).
#[derive(Debug)]
pub struct WebSocketUpgrade {
    /// The response `101 Switching Protocols`.
    pub(crate) response: Response,
    /// The connection, available once the response was sent.
    pub(crate) connection: OnUpgrade,
}

impl<S: Sync> FromRequestParts<S> for WebSocketUpgrade {
    type Rejection = ProblemResponse;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ProblemResponse> {
        let rejected = |detail: String| ProblemResponse::new(ProblemKind::UpgradeRequired, detail);
        let mut head = Request::new(());
        *head.method_mut() = parts.method.clone();
        *head.version_mut() = parts.version;
        *head.headers_mut() = parts.headers.clone();
        let mut response =
            create_response_with_body(&head, Body::empty).map_err(|error| rejected(error.to_string()))?;
        if let Some(chosen) = subprotocol::select(&parts.headers) {
            response.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, chosen);
        }
        let connection = parts.extensions.remove::<OnUpgrade>();
        let connection =
            connection.ok_or_else(|| rejected("this connection cannot be upgraded to a WebSocket".into()))?;
        Ok(Self { response, connection })
    }
}
