//! A hub from its start to its end.

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc};

use http::request::Parts;
use server::{Check, InvalidCors, Listener, Service};
use tokio_util::sync::CancellationToken;

use crate::{Config, NewToken, RegistryError, api, app::App};

/// A hub that listens.
pub struct Hub {
    app: App,
    service: Service,
    listener: Listener,
    new: Option<NewToken>,
}

/// Why a hub could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its files cannot be used.
    #[error("could not use the files in `{}`", path.display())]
    Files {
        /// Where they are.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The runtimes that it knows cannot be told.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// What was done through it cannot be written down.
    #[error(transparent)]
    Audit(journal::durable::Error),
    /// A CORS value cannot be put into a header.
    #[error(transparent)]
    Cors(#[from] InvalidCors),
    /// The address cannot be listened on.
    #[error("could not listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
}

impl Hub {
    /// Takes the address that the configuration names.
    pub async fn bind(config: &Config) -> Result<Self, StartError> {
        let (app, new) = App::new(config).await?;
        let service = Service {
            router: api::router(app.clone()),
            check: Arc::new(Rules(app.clone())),
            cors: config.cors.layer()?,
            sockets: app.sockets.clone(),
            stall: config.stall,
        };
        let address = config.address;
        let listener =
            Listener::bind(address).await.map_err(|source| StartError::Listen { address, source })?;
        Ok(Self { app, service, listener, new })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.address()
    }

    /// The token that was made because there was none. It can be seen here once, and never again.
    pub fn take_new_token(&mut self) -> Option<NewToken> {
        self.new.take()
    }

    /// Serves until `stop`, then ends every stream and connection.
    pub async fn serve(self, stop: CancellationToken) {
        let (app, feeds) = (self.app.clone(), self.app.feeds.clone());
        self.listener.serve(self.service, stop, async move { feeds.shutdown().await }).await;
        app.audit.close().await;
    }
}

/// What is checked before a request reaches the guard: whether it is for us at all.
struct Rules(App);

impl Check for Rules {
    fn check(&self, head: &mut Parts) -> server::Result<()> {
        self.0.names.check(&head.headers)
    }
}
