//! The WebSockets that are open: the server counts them no longer, so they are counted, bounded and waited for here.

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

use crate::{Refusal, Upgrade, fragments::FRAME_BYTES_MAX};

/// An open WebSocket.
pub type WebSocket = WebSocketStream<TokioIo<Upgraded>>;

/// How much is read at once.
const READ_BYTES_MAX: usize = 32 << 10;

/// All open WebSockets. A clone counts the same ones.
#[derive(Clone)]
pub struct Sockets {
    sockets_max: usize,
    places: Arc<Semaphore>,
    tasks: TaskTracker,
}

impl Sockets {
    /// None yet, and at most so many at a time. Each is a task, what it may say, and what is written at once.
    pub fn new(sockets_max: usize) -> Self {
        Self { sockets_max, places: Arc::new(Semaphore::new(sockets_max)), tasks: TaskTracker::new() }
    }

    /// Answers a request by becoming a WebSocket that is served by `session`.
    pub fn open<F: Future<Output = ()> + Send + 'static>(
        &self,
        upgrade: Result<Upgrade, Refusal>,
        message_bytes_max: usize,
        session: impl FnOnce(WebSocket) -> F + Send + 'static,
    ) -> Result<Response, Refusal> {
        let Upgrade { answer, connection } = upgrade?;
        let place = self.places.clone().try_acquire_owned().map_err(|_| {
            Refusal::new(ProblemKind::TooManyConnections, format!("{} WebSockets are open", self.sockets_max))
        })?;
        // The whole of what is read into is cleared each time; what was needed once to write is kept.
        let config = WebSocketConfig::default()
            .max_message_size(Some(message_bytes_max))
            .max_frame_size(Some(message_bytes_max))
            .read_buffer_size(message_bytes_max.min(READ_BYTES_MAX))
            .write_buffer_size(FRAME_BYTES_MAX);
        self.tasks.spawn(async move {
            match connection.await {
                Ok(connection) => {
                    let io = TokioIo::new(connection);
                    session(WebSocket::from_raw_socket(io, Role::Server, Some(config)).await).await;
                }
                Err(error) => debug!(%error, "a connection did not become a WebSocket"),
            }
            drop(place);
        });
        Ok(answer)
    }

    /// Tells how many are open.
    pub fn register(&self, registry: &mut Registry) {
        let open = ConstGauge::new(self.len() as u64);
        registry.register("websockets", "WebSockets that are open", open);
    }

    /// How many are open.
    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Waits until none is open.
    pub(crate) async fn closed(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}
