//! Accepts connections, bounds them, and ends in order.

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
    Check, ErrorChain, Gate, Inside, Metrics, Sockets, Templates,
    exchange::Exchange,
    socket::{self, Socket},
};

/// How many connections are served at a time; more wait to be accepted.
const CONNECTIONS_MAX: usize = 16_384;

/// Bounds the head of a request and what a connection keeps between requests.
const BUFFER_BYTES_MAX: usize = 64 << 10;

/// How long open connections have to end after everything else was stopped.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long to wait before accepting again when the system is out of something.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What is served.
pub struct Service {
    /// What answers requests.
    pub router: Router,
    /// Who may come in.
    pub check: Arc<dyn Check>,
    /// Which web pages may.
    pub cors: Option<CorsLayer>,
    /// The WebSockets that the router opens; the end waits for them.
    pub sockets: Sockets,
    /// The routes that the router has, as requests are counted.
    pub templates: Arc<Templates>,
    /// Where they are counted.
    pub metrics: Metrics,
    /// How long a connection may be silent or refuse to read before it is closed.
    pub stall: Duration,
}

/// Who is at the other end of a connection; among the extensions of each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// An address that is listened on.
pub struct Listener(TcpListener);

impl Listener {
    /// Takes the address.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        TcpListener::bind(address).await.map(Self)
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// Serves until `stop`, then ends every connection.
    ///
    /// `wind_down` is polled once nobody is let in any more, and comes to its end before the first connection is
    /// closed. It ends what runs, which answers the requests and ends the streams that hold connections open.
    pub async fn serve(self, service: Service, stop: CancellationToken, wind_down: impl Future<Output = ()>) {
        let Self(listener) = self;
        let connections = TaskTracker::new();
        let closing = CancellationToken::new();
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        loop {
            let Ok(place) = places.clone().acquire_owned().await else { break };
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((socket, peer)) => {
                    let connection = service.connection(socket, Peer(peer), closing.clone(), place);
                    connections.spawn(connection);
                }
                Err(error) => {
                    warn!(%error, "could not accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        drop(listener);
        wind_down.await;
        closing.cancel();
        connections.close();
        let sockets = &service.sockets;
        let all = async { tokio::join!(connections.wait(), sockets.closed()) };
        if tokio::time::timeout(FAREWELL, all).await.is_err() {
            debug!(open = connections.len() + sockets.len(), "connections were cut at shutdown");
        }
    }
}

impl Service {
    /// What answers those who come in without an address, if they pass `check`.
    pub fn inside(&self, check: Arc<dyn Check>) -> Inside {
        Inside { gate: Gate { check, inner: self.router.clone() }, exchange: self.exchange() }
    }

    fn exchange(&self) -> Exchange {
        Exchange { templates: self.templates.clone(), metrics: self.metrics.clone() }
    }

    fn connection(
        &self,
        socket: TcpStream,
        peer: Peer,
        closing: CancellationToken,
        place: OwnedSemaphorePermit,
    ) -> impl Future<Output = ()> + use<> {
        socket::tune(&socket);
        let gate = Gate { check: self.check.clone(), inner: self.router.clone() };
        let service = option_layer(self.cors.clone()).layer(gate);
        let service = service.map_request(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            request.map(Body::new)
        });
        let (exchange, open) = (self.exchange(), self.metrics.connected());
        let io = TokioIo::new(Socket::new(socket, self.stall));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.stall)
            .max_buf_size(BUFFER_BYTES_MAX)
            .serve_connection(io, service_fn(move |request| exchange.carry(request, service.clone())))
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
                debug!(error = %ErrorChain(&error), "a connection ended early");
            }
            drop((place, open));
        }
    }
}

#[cfg(test)]
mod tests;
