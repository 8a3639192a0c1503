//! Starts, serves and stops a daemon.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use server::{HttpListener, HttpService};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Config, DaemonAccess, HubJoin, InvalidConfig,
    access::{InProcessAccess, NetworkAccess},
    api,
    app::App,
};

/// When to resume sessions that the last shutdown interrupted. Not immediately, so that the first requests are not slowed
/// down.
const RECOVER_AFTER: Duration = Duration::from_millis(300);

/// A configured daemon.
pub struct DaemonServer {
    app: App,
    service: HttpService,
    join: Option<HubJoin>,
}

/// A daemon that is bound to its address, ready to serve.
pub struct BoundDaemon {
    server: DaemonServer,
    listener: HttpListener,
}

/// The daemon could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] InvalidConfig),
    /// The agent catalog is invalid.
    #[error(transparent)]
    Catalog(#[from] agents::InvalidCatalog),
    /// The directory of `/v1/fs` cannot be opened.
    #[error("could not open the directory that `/v1/fs` serves")]
    Files(#[from] files::Error),
    /// The address is in use, or not ours.
    #[error("could not listen on {address}; choose another with --host and --port")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
}

impl DaemonServer {
    /// Checks the configuration and binds its address.
    pub async fn bind(config: &Config) -> Result<BoundDaemon, StartError> {
        let is_open = matches!(config.access, DaemonAccess::Open);
        if is_open && !config.address.ip().is_loopback() && !config.allow_open_network {
            return Err(InvalidConfig::OpenNetwork(config.address).into());
        }
        let app = App::new(config)?;
        let (router, templates) = api::router(app.clone());
        let service = HttpService {
            router,
            access_check: Arc::new(NetworkAccess::new(config)),
            cors: config.settings.cors().layer().map_err(InvalidConfig::from)?,
            websockets: app.sockets.clone(),
            templates: Arc::new(templates),
            metrics: app.metrics.clone(),
            stall_timeout: config.settings.stall_timeout(),
        };
        let address = config.address;
        let listener =
            HttpListener::bind(address).await.map_err(|source| StartError::Listen { address, source })?;
        let join = config.join.clone();
        Ok(BoundDaemon { server: DaemonServer { app, service, join }, listener })
    }
}

impl BoundDaemon {
    /// The bound address, with the actual port.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.address()
    }

    /// A service for requests from the same process, which need no token.
    pub fn in_process_service(&self) -> server::InProcessService {
        self.server.service.in_process(Arc::new(InProcessAccess::new()))
    }

    /// Serves until `stop` is cancelled, then stops every process and closes every connection.
    pub async fn serve(self, stop: CancellationToken) {
        let in_process = self.in_process_service();
        let DaemonServer { app, service, join } = self.server;
        let recovery = TaskTracker::new();
        let joining = TaskTracker::new();
        recovery.spawn(recover(app.clone(), stop.clone()));
        let leave = CancellationToken::new();
        if let Some(join) = join {
            joining.spawn(join.keep_joined(in_process, leave.clone()));
        }
        let wind_down = async {
            recovery.close();
            recovery.wait().await;
            app.shutdown().await;
            // Only now: the last events of the sessions still go to the hub through its tunnel.
            leave.cancel();
            joining.close();
            joining.wait().await;
        };
        self.listener.serve(service, stop, wind_down).await;
    }
}

async fn recover(app: App, stop: CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep(RECOVER_AFTER) => app.sessions.recover().await,
    }
}
