//! A hub from its start to its end.

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc};

use http::request::Parts;
use protocol::Kind;
use server::{Check, InvalidCors, Listener, Names, Refusal, Service, bearer};
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
        let (app, new) = App::new(config)?;
        let (router, templates) = api::router(app.clone());
        let names = Names {
            loopback: config.address.ip().is_loopback(),
            hosts: config.hosts.clone(),
            origins: config.cors.origins.clone(),
        };
        let service = Service {
            router,
            check: Arc::new(Rules { names, app: app.clone() }),
            cors: config.cors.layer()?,
            sockets: app.sockets.clone(),
            templates: Arc::new(templates),
            metrics: app.metrics.clone(),
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
        let feeds = self.app.feeds.clone();
        self.listener.serve(self.service, stop, async move { feeds.shutdown().await }).await;
    }
}

/// What is checked before a request reaches a route.
struct Rules {
    names: Names,
    app: App,
}

impl Check for Rules {
    fn check(&self, head: &mut Parts) -> server::Result<()> {
        self.names.check(&head.headers)?;
        let path = head.uri.path();
        let is_guarded = path.starts_with("/api/") || path == "/metrics";
        if !is_guarded || path == "/api/health" {
            return Ok(());
        }
        let Some(caller) = bearer(&head.headers).and_then(|token| self.app.tokens.find(token)) else {
            let detail = "send a token of the hub as `Authorization: Bearer …`";
            return Err(Refusal::new(Kind::Unauthorized, detail));
        };
        head.extensions.insert(caller);
        Ok(())
    }
}
