//! A hub from its start to its end.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
};

use protocol::RuntimeId;
use server::{AllowAll, HttpListener, HttpService, InProcessService, InvalidCors};
use tokio_util::sync::CancellationToken;

use crate::{
    Config, Files, Local, NewToken, RecoverTokenError, RegistryError, api,
    app::{App, PEOPLE},
    instance_lock::InstanceLock,
    policy::PolicyError,
};

/// A hub that listens.
pub struct Hub {
    app: App,
    service: HttpService,
    listener: HttpListener,
    new: Option<NewToken>,
    runtimes: Option<PathBuf>,
    /// Held for as long as the hub uses its directory.
    lock: InstanceLock,
}

/// Creates another administrator's token for the hub with its files in `directory`. The hub accepts it from its first use on,
/// whether it runs now or not.
///
/// # Errors
/// If the caller is not the user that the files belong to, or they cannot be written.
pub fn recover_token(directory: &Path) -> Result<NewToken, RecoverTokenError> {
    hub_access::recover_token(&directory.join(PEOPLE))
}

/// Why a hub could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its files cannot be used.
    #[error("could not open the data directory `{}`", path.display())]
    Files {
        /// Where they are.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another hub uses the directory.
    #[error(
        "another hub{} uses `{}`: stop it, or pass another directory with --data-dir",
        process.map(|process| format!(" (process {process})")).unwrap_or_default(),
        path.display()
    )]
    Running {
        /// The process of the other hub, if it is known.
        process: Option<u32>,
        /// The directory.
        path: PathBuf,
    },
    /// The runtimes that it knows cannot be told.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The policy cannot be used.
    #[error(transparent)]
    Policy(#[from] PolicyError),
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
        // First: a second hub must not create a token, nor change a file of the one that runs.
        let lock = InstanceLock::acquire(&config.data_dir)?;
        let (app, new) = App::new(config).await?;
        let (router, templates) = api::router(app.clone());
        let service = HttpService {
            router,
            access_check: Arc::new(AllowAll),
            cors: config.cors.layer()?,
            websockets: app.sockets.clone(),
            templates: Arc::new(templates),
            metrics: app.metrics.clone(),
            stall_timeout: config.stall,
        };
        let address = config.address;
        let listener =
            HttpListener::bind(address).await.map_err(|source| StartError::Listen { address, source })?;
        if let Ok(address) = listener.address() {
            app.listens_on(address);
        }
        Ok(Self { app, service, listener, new, runtimes: config.runtimes.clone(), lock })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.address()
    }

    /// The files that can be read again while the hub serves.
    pub fn files(&self) -> Files {
        Files::new(self.app.clone(), self.runtimes.clone())
    }

    /// The token that was made because there was none. It can be seen here once, and never again.
    pub fn take_new_token(&mut self) -> Option<NewToken> {
        self.new.take()
    }

    /// Makes a runtime in this process known, for as long as there is one: `inside` answers its requests.
    ///
    /// # Errors
    /// If there is one of that name.
    pub fn attach(&self, id: RuntimeId, inside: InProcessService) -> Result<(), RegistryError> {
        self.app.registry.attach(id, Arc::new(Local::new(inside)))
    }

    /// Serves until `stop`, then ends every stream and connection.
    pub async fn serve(self, stop: CancellationToken) {
        let app = self.app;
        let wind_down = async {
            app.stop.cancel();
            tokio::join!(app.feeds.shutdown(), app.inbox.shutdown());
            app.registry.shutdown();
        };
        let serving = self.listener.serve(self.service, stop, wind_down);
        tokio::join!(serving, app.relay.watch_over(app.stop.clone()));
        tokio::join!(app.access.audit.close(), app.relay.close());
        drop(self.lock);
    }
}
