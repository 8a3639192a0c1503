//! The server: accepts connections, bounds them, and ends in order.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, body::Body};
use http::{HeaderName, HeaderValue, Method, Request, header};
use hyper::{body::Incoming, server::conn::http1};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::{Layer, ServiceExt, util::option_layer};
use tower_http::cors::{AllowOrigin, CorsLayer};
use tracing::{debug, warn};

use crate::{
    Access, Config, CorsConfig, InvalidConfig, api,
    app::App,
    gate::{Gate, Rules},
    socket::{self, Socket},
};

/// How many connections are served at a time; more wait to be accepted.
const CONNECTIONS_MAX: usize = 16_384;

/// Bounds the head of a request and what a connection keeps between requests.
const BUFFER_BYTES_MAX: usize = 64 << 10;

/// How long open connections have to end after everything else was stopped.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long after its start a daemon looks for sessions that were interrupted. The first answers go before.
const RECOVER_AFTER: Duration = Duration::from_millis(300);

/// How long to wait before accepting again when the system is out of something.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A daemon that is ready to serve.
pub struct Server {
    app: App,
    router: Router,
    rules: Arc<Rules>,
    cors: Option<CorsLayer>,
    stall: Duration,
}

/// A daemon that listens.
pub struct Bound {
    server: Server,
    listener: TcpListener,
}

/// Why a daemon could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] InvalidConfig),
    /// The agents that there are cannot be told.
    #[error(transparent)]
    Catalog(#[from] agents::InvalidCatalog),
    /// The files cannot be served.
    #[error("could not open the directory that files are served from")]
    Files(#[from] files::Error),
    /// The address cannot be listened on.
    #[error("could not listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
}

impl Server {
    /// Takes the address that the configuration names.
    pub async fn bind(config: &Config) -> Result<Bound, StartError> {
        let open = matches!(config.access, Access::Open);
        if open && !config.address.ip().is_loopback() && !config.open_to_the_network {
            return Err(InvalidConfig::OpenToTheNetwork(config.address).into());
        }
        let app = App::new(config)?;
        let server = Server {
            router: api::router(app.clone()),
            app,
            rules: Arc::new(Rules::new(config)),
            cors: cors(&config.cors)?,
            stall: config.stall,
        };
        let address = config.address;
        let listener =
            TcpListener::bind(address).await.map_err(|source| StartError::Listen { address, source })?;
        Ok(Bound { server, listener })
    }
}

impl Bound {
    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop`, then ends every process and connection.
    pub async fn serve(self, stop: CancellationToken) {
        let Self { server, listener } = self;
        let connections = TaskTracker::new();
        let closing = CancellationToken::new();
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let recovery = TaskTracker::new();
        recovery.spawn(recover(server.app.clone(), stop.clone()));
        loop {
            let Ok(place) = places.clone().acquire_owned().await else { break };
            let accepted = tokio::select! {
                () = stop.cancelled() => break,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((socket, _)) => {
                    let connection = server.connection(socket, closing.clone(), place);
                    connections.spawn(connection);
                }
                Err(error) => {
                    warn!(%error, "could not accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        drop(listener);
        // What runs first: its end answers the requests and ends the streams that hold connections open.
        recovery.close();
        recovery.wait().await;
        server.app.shutdown().await;
        closing.cancel();
        connections.close();
        let sockets = &server.app.sockets;
        let all = async { tokio::join!(connections.wait(), sockets.closed()) };
        if tokio::time::timeout(FAREWELL, all).await.is_err() {
            debug!(open = connections.len() + sockets.len(), "connections were cut at shutdown");
        }
    }
}

async fn recover(app: App, stop: CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep(RECOVER_AFTER) => app.sessions.recover().await,
    }
}

impl Server {
    fn connection(
        &self,
        socket: TcpStream,
        closing: CancellationToken,
        place: OwnedSemaphorePermit,
    ) -> impl Future<Output = ()> + use<> {
        socket::tune(&socket);
        let gate = Gate { rules: self.rules.clone(), inner: self.router.clone() };
        let service = option_layer(self.cors.clone()).layer(gate);
        let service = service.map_request(|request: Request<Incoming>| request.map(Body::new));
        let io = TokioIo::new(Socket::new(socket, self.stall));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.stall)
            .max_buf_size(BUFFER_BYTES_MAX)
            .serve_connection(io, TowerToHyperService::new(service))
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
                debug!(error = %crate::problem::Chain(&error), "a connection ended early");
            }
            drop(place);
        }
    }
}

fn cors(config: &CorsConfig) -> Result<Option<CorsLayer>, InvalidConfig> {
    if config.origins.is_empty() {
        return Ok(None);
    }
    fn parsed<T: std::str::FromStr>(values: &[String]) -> Result<Vec<T>, InvalidConfig> {
        values.iter().map(|value| value.parse().map_err(|_| InvalidConfig::Cors(value.clone()))).collect()
    }
    let any = config.origins.iter().any(|origin| origin == "*");
    if any && config.credentials {
        return Err(InvalidConfig::Cors("*` together with `--cors-allow-credentials".into()));
    }
    let origins =
        if any { AllowOrigin::any() } else { AllowOrigin::list(parsed::<HeaderValue>(&config.origins)?) };
    let methods = match config.methods.as_slice() {
        [] => vec![Method::GET, Method::POST, Method::PUT, Method::DELETE],
        methods => parsed(methods)?,
    };
    let headers: Vec<HeaderName> = match config.headers.as_slice() {
        [] => vec![
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::RANGE,
            header::IF_MATCH,
            header::IF_NONE_MATCH,
            HeaderName::from_static("idempotency-key"),
            HeaderName::from_static("last-event-id"),
            HeaderName::from_static("prefer"),
        ],
        headers => parsed(headers)?,
    };
    let exposed = [HeaderName::from_static("acp-event-id"), header::ETAG, header::CONTENT_RANGE];
    let layer = CorsLayer::new().allow_origin(origins).allow_methods(methods).allow_headers(headers);
    Ok(Some(layer.expose_headers(exposed).allow_credentials(config.credentials)))
}
