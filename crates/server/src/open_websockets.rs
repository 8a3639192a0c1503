//! Tracks open WebSockets. After the upgrade a connection no longer belongs to the HTTP server, so its WebSocket is
//! counted, limited and awaited here.

use std::sync::Arc;

use axum::response::Response;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use prometheus_client::{metrics::gauge::ConstGauge, registry::Registry};
use protocol::ProblemKind;
use tokio::sync::Semaphore;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::protocol::{Role, WebSocketConfig},
};
use tokio_util::task::TaskTracker;
use tracing::debug;
use websocket::FRAME_BYTES_MAX;

use crate::{ProblemResponse, WebSocketUpgrade};

/// An open WebSocket.
pub type ServerWebSocket = WebSocketStream<TokioIo<Upgraded>>;

/// The largest read buffer of a WebSocket.
const READ_BYTES_MAX: usize = 32 << 10;

/// All open WebSockets of a server. Clones share them.
#[derive(Clone)]
pub struct OpenWebSockets {
    sockets_max: usize,
    permits: Arc<Semaphore>,
    tasks: TaskTracker,
}

impl OpenWebSockets {
    /// Allows `sockets_max` WebSockets at a time. Each costs a task, a read buffer and a write buffer.
    pub fn new(sockets_max: usize) -> Self {
        Self { sockets_max, permits: Arc::new(Semaphore::new(sockets_max)), tasks: TaskTracker::new() }
    }

    /// Upgrades the connection of a request to a WebSocket, which `session` serves in a task of its own.
    pub fn open<F: Future<Output = ()> + Send + 'static>(
        &self,
        upgrade: Result<WebSocketUpgrade, ProblemResponse>,
        message_bytes_max: usize,
        session: impl FnOnce(ServerWebSocket) -> F + Send + 'static,
    ) -> Result<Response, ProblemResponse> {
        let WebSocketUpgrade { response, connection } = upgrade?;
        let permit = self.permits.clone().try_acquire_owned().map_err(|_| {
            ProblemResponse::new(
                ProblemKind::TooManyConnections,
                format!("all {} WebSockets are in use; try again later", self.sockets_max),
            )
        })?;
        // The read buffer is cleared in full before each read, and the write buffer never shrinks: keep both small.
        let config = WebSocketConfig::default()
            .max_message_size(Some(message_bytes_max))
            .max_frame_size(Some(message_bytes_max))
            .read_buffer_size(message_bytes_max.min(READ_BYTES_MAX))
            .write_buffer_size(FRAME_BYTES_MAX);
        self.tasks.spawn(async move {
            match connection.await {
                Ok(connection) => {
                    let io = TokioIo::new(connection);
                    session(ServerWebSocket::from_raw_socket(io, Role::Server, Some(config)).await).await;
                }
                Err(error) => debug!(%error, "could not upgrade a connection to a WebSocket"),
            }
            drop(permit);
        });
        Ok(response)
    }

    /// Adds the current metrics to `registry`.
    pub fn register(&self, registry: &mut Registry) {
        let open = ConstGauge::new(self.len() as u64);
        registry.register("websockets", "Open WebSockets", open);
    }

    /// The number of open WebSockets.
    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Waits until all are closed.
    pub(crate) async fn wait_closed(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}
