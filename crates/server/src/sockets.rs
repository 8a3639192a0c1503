//! The WebSockets that are open: the server counts them no longer, so they are counted, bounded and waited for here.

use std::sync::Arc;

use axum::{
    extract::ws::{WebSocket, WebSocketUpgrade, rejection::WebSocketUpgradeRejection},
    response::Response,
};
use prometheus_client::{metrics::gauge::ConstGauge, registry::Registry};
use protocol::Kind;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use crate::Refusal;

/// How much is read at once.
const READ_BYTES_MAX: usize = 64 << 10;

/// How much is gathered before it is written. What was needed once is kept for as long as the socket is open, and of
/// sockets that only show something there are thousands.
const WRITE_BYTES_MAX: usize = 16 << 10;

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
        upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
        message_bytes_max: usize,
        session: impl FnOnce(WebSocket) -> F + Send + 'static,
    ) -> Result<Response, Refusal> {
        let upgrade = upgrade.map_err(|error| Refusal::new(Kind::UpgradeRequired, error.body_text()))?;
        let place = self.places.clone().try_acquire_owned().map_err(|_| {
            Refusal::new(Kind::TooManyConnections, format!("{} WebSockets are open", self.sockets_max))
        })?;
        let tasks = self.tasks.clone();
        // The whole of what is read into is cleared each time.
        let upgrade = upgrade
            .max_message_size(message_bytes_max)
            .max_frame_size(message_bytes_max)
            .read_buffer_size(message_bytes_max.min(READ_BYTES_MAX))
            .write_buffer_size(WRITE_BYTES_MAX);
        Ok(upgrade.on_upgrade(move |socket| {
            tasks.track_future(async move {
                session(socket).await;
                drop(place);
            })
        }))
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
