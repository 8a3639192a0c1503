//! Accepts connections, limits their number, and closes them in order.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, body::Body};
use http::Request;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::{Layer, ServiceExt, util::option_layer};
use tower_http::cors::CorsLayer;
use tracing::{debug, warn};

use crate::{
    AccessCheck, AccessGate, ErrorChain, HttpMetrics, InProcessService, OpenWebSockets, RouteTemplates,
    client_socket::{self, ClientSocket},
    request_tracker::RequestTracker,
};

/// How many connections are served at a time. Further ones wait in the kernel's backlog.
const CONNECTIONS_MAX: usize = 16_384;

/// Limits the head of a request, and the memory that a connection keeps between requests.
const BUFFER_BYTES_MAX: usize = 64 << 10;

/// How long connections may take to close after everything else was stopped.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(2);

/// The pause after a failed accept, which usually means that file descriptors or memory ran out.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// The parts that together serve a request.
pub struct HttpService {
    /// Handles admitted requests.
    pub router: Router,
    /// Decides which requests are admitted.
    pub access_check: Arc<dyn AccessCheck>,
    /// Cross-origin access; none if left out.
    pub cors: Option<CorsLayer>,
    /// The WebSockets that the router opens. Shutdown waits for them.
    pub websockets: OpenWebSockets,
    /// The routes of the router, for metrics and spans.
    pub templates: Arc<RouteTemplates>,
    /// Counts requests and connections.
    pub metrics: HttpMetrics,
    /// How long a client may send nothing, or read nothing, before its connection is closed.
    pub stall_timeout: Duration,
}

/// The address of the client. An extension of each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerAddress(pub SocketAddr);

/// A bound TCP socket that serves HTTP/1.1.
pub struct HttpListener(TcpListener);

impl HttpListener {
    /// Binds `address`.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        TcpListener::bind(address).await.map(Self)
    }

    /// The bound address, with the actual port.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// Serves until `stop` is cancelled, then closes every connection.
    ///
    /// `wind_down` runs after the last connection was accepted and before the first one is closed. It should stop the work
    /// behind open requests and streams, so that their connections become idle and can be closed without an error.
    pub async fn serve(
        self,
        service: HttpService,
        stop: CancellationToken,
        wind_down: impl Future<Output = ()>,
    ) {
        let Self(listener) = self;
        let connections = TaskTracker::new();
        let closing = CancellationToken::new();
        let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        loop {
            let Ok(permit) = permits.clone().acquire_owned().await else { break };
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((socket, peer)) => {
                    let connection = service.connection(socket, PeerAddress(peer), closing.clone(), permit);
                    connections.spawn(connection);
                }
                Err(error) => {
                    warn!(%error, "could not accept a connection");
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                }
            }
        }
        drop(listener);
        wind_down.await;
        closing.cancel();
        connections.close();
        let websockets = &service.websockets;
        let all = async { tokio::join!(connections.wait(), websockets.wait_closed()) };
        if tokio::time::timeout(CLOSE_TIME_MAX, all).await.is_err() {
            debug!(open = connections.len() + websockets.len(), "closed connections forcibly at shutdown");
        }
    }
}

impl HttpService {
    /// A service for requests that do not arrive over a listener, with an access check of its own.
    pub fn in_process(&self, check: Arc<dyn AccessCheck>) -> InProcessService {
        InProcessService { gate: AccessGate { check, inner: self.router.clone() }, tracker: self.tracker() }
    }

    fn tracker(&self) -> RequestTracker {
        RequestTracker { templates: self.templates.clone(), metrics: self.metrics.clone() }
    }

    fn connection(
        &self,
        socket: TcpStream,
        peer: PeerAddress,
        closing: CancellationToken,
        permit: OwnedSemaphorePermit,
    ) -> impl Future<Output = ()> + use<> {
        client_socket::set_low_latency(&socket);
        let gate = AccessGate { check: self.access_check.clone(), inner: self.router.clone() };
        let service = option_layer(self.cors.clone()).layer(gate);
        let service = service.map_request(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            request.map(Body::new)
        });
        let tracker = self.tracker();
        let open = self.metrics.count_connection();
        let io = TokioIo::new(ClientSocket::new(socket, self.stall_timeout));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.stall_timeout)
            .max_buf_size(BUFFER_BYTES_MAX)
            .serve_connection(io, service_fn(move |request| tracker.track(request, service.clone())))
            .with_upgrades();
        async move {
            let mut connection = std::pin::pin!(connection);
            let ended = tokio::select! {
                ended = &mut connection => ended,
                () = closing.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                debug!(error = %ErrorChain(&error), "a connection failed");
            }
            drop(permit);
            drop(open);
        }
    }
}

#[cfg(test)]
mod tests;
