//! A request that is to become a WebSocket.

use axum::{body::Body, extract::FromRequestParts, response::Response};
use http::{Request, header, request::Parts};
use hyper::upgrade::OnUpgrade;
use protocol::ProblemKind;
use tokio_tungstenite::tungstenite::handshake::server::create_response_with_body;

use crate::{Refusal, subprotocol};

/// A request that is to become a WebSocket, and can. [`Sockets::open`](crate::Sockets::open) answers it.
#[derive(Debug)]
pub struct Upgrade {
    /// What says that it becomes one.
    pub(crate) answer: Response,
    /// The connection, once that was said.
    pub(crate) connection: OnUpgrade,
}

impl<S: Sync> FromRequestParts<S> for Upgrade {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let refused = |detail: String| Refusal::new(ProblemKind::UpgradeRequired, detail);
        let mut head = Request::new(());
        (*head.method_mut(), *head.version_mut()) = (parts.method.clone(), parts.version);
        *head.headers_mut() = parts.headers.clone();
        let mut answer =
            create_response_with_body(&head, Body::empty).map_err(|error| refused(error.to_string()))?;
        if let Some(chosen) = subprotocol::chosen(&parts.headers) {
            answer.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, chosen);
        }
        let connection = parts.extensions.remove::<OnUpgrade>();
        let connection =
            connection.ok_or_else(|| refused("this connection cannot become a WebSocket".into()))?;
        Ok(Self { answer, connection })
    }
}
