//! A daemon from its start to its end.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use server::{Listener, Service};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Access, Config, InvalidConfig, Join, api,
    app::App,
    gate::{self, Rules},
};

/// How long after its start a daemon looks for sessions that were interrupted. The first answers go before.
const RECOVER_AFTER: Duration = Duration::from_millis(300);

/// A daemon that is ready to serve.
pub struct Server {
    app: App,
    service: Service,
    join: Option<Join>,
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
        let join = config.join.clone();
        Ok(Bound { server: Server { app, service, join }, listener })
    }
}

impl Bound {
    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.address()
    }

    /// What answers those who are let in without a token, as they do not come from outside.
    pub fn inside(&self) -> server::Inside {
        self.server.service.inside(Arc::new(gate::Inside::new()))
    }

    /// Serves until `stop`, then ends every process and connection.
    pub async fn serve(self, stop: CancellationToken) {
        let inside = self.inside();
        let Server { app, service, join } = self.server;
        let (recovery, joining) = (TaskTracker::new(), TaskTracker::new());
        recovery.spawn(recover(app.clone(), stop.clone()));
        let leave = CancellationToken::new();
        if let Some(join) = join {
            joining.spawn(join.keep(inside, leave.clone()));
        }
        let wind_down = async {
            recovery.close();
            recovery.wait().await;
            app.shutdown().await;
            // What was said last goes through the tunnel.
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
