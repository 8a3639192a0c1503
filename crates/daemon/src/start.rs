//! A daemon from its start to its end.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use server::{Listener, Service};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{Access, Config, InvalidConfig, api, app::App, gate::Rules};

/// How long after its start a daemon looks for sessions that were interrupted. The first answers go before.
const RECOVER_AFTER: Duration = Duration::from_millis(300);

/// A daemon that is ready to serve.
pub struct Server {
    app: App,
    service: Service,
}

/// A daemon that listens.
pub struct Bound {
    server: Server,
    listener: Listener,
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
        let (router, templates) = api::router(app.clone());
        let service = Service {
            router,
            check: Arc::new(Rules::new(config)),
            cors: config.cors.layer().map_err(InvalidConfig::from)?,
            sockets: app.sockets.clone(),
            templates: Arc::new(templates),
            metrics: app.metrics.clone(),
            stall: config.stall,
        };
        let address = config.address;
        let listener =
            Listener::bind(address).await.map_err(|source| StartError::Listen { address, source })?;
        Ok(Bound { server: Server { app, service }, listener })
    }
}

impl Bound {
    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.address()
    }

    /// Serves until `stop`, then ends every process and connection.
    pub async fn serve(self, stop: CancellationToken) {
        let Server { app, service } = self.server;
        let recovery = TaskTracker::new();
        recovery.spawn(recover(app.clone(), stop.clone()));
        let wind_down = async {
            recovery.close();
            recovery.wait().await;
            app.shutdown().await;
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
