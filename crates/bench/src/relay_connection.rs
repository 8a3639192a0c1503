//! A relay connection of the load generator, as a device or as a runtime.

use std::io;

use async_trait::async_trait;
use protocol::relay::{EventFrame, Hello, RawJson, RelayError, RelayErrorCode, Request};
use relay::{Ask, Handler, Limits, Lost, Peer, Refused, Reply, Side, Socket};
use serde_json::{Map, Value, json};
use tokio::{net::TcpStream, task::JoinSet};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async_with_config,
    tungstenite::{client::IntoClientRequest, http::header, protocol::WebSocketConfig},
};

/// A client WebSocket of the load generator.
pub(crate) type TungsteniteSocket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A relay connection from this process to the hub, as a device or as a runtime.
#[derive(Debug)]
pub(crate) struct RelayConnection {
    pub(crate) peer: Peer,
    /// The task that reads and writes the socket. Dropping the set aborts it and closes the connection.
    _driving: JoinSet<Lost>,
}

impl RelayConnection {
    pub(crate) async fn open(base: &str, path: &str, token: &str, hello: Hello) -> io::Result<Self> {
        let limits = Limits::default();
        let socket = websocket(base, path, Some(token), relay::config(&limits)).await?;
        let side = Side::Device(Box::new(hello));
        let (peer, driver) = Peer::start(Socket::new(socket), LightDeviceHandler, side, limits);
        let mut driving = JoinSet::new();
        driving.spawn(driver);
        peer.accepted().await.map_err(relay_failure)?;
        Ok(Self { peer, _driving: driving })
    }

    /// Sends a request and waits for its result.
    pub(crate) async fn request(&self, method: &str, params: &RawJson) -> Result<RawJson, RelayError> {
        self.peer.request(Ask::new(method, params.clone())).await.outcome().await
    }
}

/// Converts an error of the relay.
pub(crate) fn relay_failure(error: RelayError) -> io::Error {
    io::Error::other(error)
}

/// Opens a WebSocket at an `http` base URL.
pub(crate) async fn websocket(
    base: &str,
    path: &str,
    token: Option<&str>,
    config: WebSocketConfig,
) -> io::Result<TungsteniteSocket> {
    let url = format!("{}{path}", base.replacen("http", "ws", 1));
    let mut request = url.into_client_request().map_err(io::Error::other)?;
    if let Some(token) = token {
        let bearer = format!("Bearer {token}").parse().map_err(io::Error::other)?;
        request.headers_mut().insert(header::AUTHORIZATION, bearer);
    }
    let opened = connect_async_with_config(request, Some(config), true).await;
    opened.map(|(socket, _)| socket).map_err(io::Error::other)
}

/// Handles requests to a light device. A runtime has the same handler, but receives no requests.
struct LightDeviceHandler;

#[async_trait]
impl Handler for LightDeviceHandler {
    async fn hello(&self, _: Hello) -> Result<Map<String, Value>, Refused> {
        Err(Refused("a light device accepts no connections".into()))
    }

    async fn request(&self, request: Request, _: &mut Reply) -> Result<RawJson, RelayError> {
        match request.method.as_str() {
            "file.stat" => Ok(RawJson::from_value(&json!({ "kind": "file", "size_bytes": 5 }))),
            _ => Err(RelayError::new(RelayErrorCode::UnknownMethod, "a light device has only files")),
        }
    }

    fn event(&self, _: EventFrame) {}
}
