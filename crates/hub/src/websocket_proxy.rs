//! Forwarding a client's WebSocket to a runtime.

use axum::body::Body;
use client::WebSocketHandshake;
use http::{Request, Response, StatusCode};
use hub_access::{PermissionRevoked, Permit};
use protocol::observation::StreamCloseCode;
use server::ServerWebSocket;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use websocket::{KeepAlive, close_frame};

use crate::{Down, Runtime, runtime::ANSWER_MAX};

/// The largest message of a client; a terminal accepts as much.
pub(crate) const MESSAGE_BYTES_MAX: usize = 1 << 20;

/// How a runtime answered the request for a WebSocket.
pub(crate) enum UpgradeResponse {
    /// The connection is open.
    Open(client::ClientWebSocket),
    /// It refused, with this response.
    Refused(Response<Body>),
}

/// Requests a WebSocket from a runtime.
pub(crate) async fn connect(
    runtime: &dyn Runtime,
    mut request: Request<Body>,
) -> Result<UpgradeResponse, Down> {
    let handshake = WebSocketHandshake::new();
    request.headers_mut().extend(handshake.headers());
    let opening = async {
        let response = runtime.send(request).await?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Ok(UpgradeResponse::Refused(response));
        }
        let socket = handshake.finish(response).await.map_err(|_| Down::Malformed)?;
        Ok(UpgradeResponse::Open(socket))
    };
    timeout(ANSWER_MAX, opening).await.unwrap_or(Err(Down::Unreachable))
}

/// Forwards messages both ways until one side closes, the hub stops, or the permit ends.
pub(crate) async fn forward(
    client: ServerWebSocket,
    runtime: client::ClientWebSocket,
    keep_alive: KeepAlive,
    stop: CancellationToken,
    permit: Permit,
) {
    let runtime_lost = close_frame(StreamCloseCode::TRY_LATER.0, "the runtime was lost");
    let cancelled = async {
        tokio::select! {
            biased;
            () = stop.cancelled() => close_frame(StreamCloseCode::AWAY.0, "the hub is shutting down"),
            () = permit.ended() => close_frame(StreamCloseCode::POLICY.0, &PermissionRevoked.to_string()),
        }
    };
    websocket::proxy(client, runtime, keep_alive, runtime_lost, cancelled).await;
}
