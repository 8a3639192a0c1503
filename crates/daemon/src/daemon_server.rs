//! Starts, serves and stops a daemon.

use std::{
    fs::{OpenOptions, TryLockError},
    io,
    net::SocketAddr,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use files::private_file;
use process::SurvivorRecord;
use server::{HttpListener, HttpService};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::warn;

use crate::{
    Config, DaemonAccess, HubJoin, InvalidConfig,
    access::{InProcessAccess, NetworkAccess},
    api,
    app::App,
};

/// When to resume sessions that the last shutdown interrupted. Not immediately, so that the first requests are not slowed
/// down.
const RECOVER_AFTER: Duration = Duration::from_millis(300);

/// The file with the daemon's id, in its data directory.
const DAEMON_ID_FILE: &str = "daemon-id";

/// The file in the data directory from which the next start learns how to find the processes that a killed daemon left behind.
const CHILDREN_FILE: &str = "children.lock";

/// A configured daemon.
pub struct DaemonServer {
    app: App,
    service: HttpService,
    /// The hub to join, and the id that this daemon has there.
    join: Option<(HubJoin, String)>,
    /// Locked while this daemon runs; `None` if another daemon has the data directory.
    children: SurvivorRecord,
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
    Catalog(#[from] agent_catalog::InvalidCatalog),
    /// The data directory cannot be used.
    #[error("could not use the data directory `{}`; choose another with --data-dir", path.display())]
    DataDirectory {
        /// The directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Another daemon uses the data directory.
    #[error("the data directory `{}` is in use by another daemon; stop that daemon, or choose another directory with --data-dir", .0.display())]
    InUse(PathBuf),
    /// The sessions cannot be read or written, or another daemon uses them.
    #[error("could not open the sessions below `{}`; stop the other daemon, or choose another directory with --data-dir", path.display())]
    Sessions {
        /// The data directory.
        path: PathBuf,
        /// The cause.
        source: worker_runtime::Error,
    },
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
        let path = &config.data_dir;
        let unusable = |source| StartError::DataDirectory { path: path.clone(), source };
        if private_file::make_directory_private(path).map_err(unusable)? {
            warn!(path = %path.display(), "made the data directory private; other users could enter it");
        }
        let app = App::new(config)?;
        let opened = app.sessions.open().await;
        opened.map_err(|source| StartError::Sessions { path: path.clone(), source })?;
        let directory = path.clone();
        let children = tokio::task::spawn_blocking(move || end_survivors(&directory)).await;
        let children = children.map_err(io::Error::other).flatten().map_err(unusable)?;
        let children = children.ok_or_else(|| StartError::InUse(path.clone()))?;
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
        let join = match config.join.clone() {
            Some(join) => Some((join, daemon_id(path).map_err(unusable)?)),
            None => None,
        };
        Ok(BoundDaemon { server: DaemonServer { app, service, join, children }, listener })
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
        let DaemonServer { app, service, join, children: _children } = self.server;
        let recovery = TaskTracker::new();
        let joining = TaskTracker::new();
        recovery.spawn(recover(app.clone(), stop.clone()));
        let leave = CancellationToken::new();
        if let Some((join, daemon_id)) = join {
            joining.spawn(join.keep_joined(daemon_id, in_process, leave.clone()));
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

/// Ends the processes that agents and users of a killed daemon left behind. Returns `None`, and touches nothing, if another daemon
/// uses the directory, which the lock shows.
fn end_survivors(data_dir: &Path) -> io::Result<Option<SurvivorRecord>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(data_dir.join(CHILDREN_FILE))?;
    match file.try_lock() {
        Ok(()) => {
            let record = SurvivorRecord::open(file)?;
            if record.ended_any() {
                warn!("ended processes that the daemon's last run left behind");
            }
            Ok(Some(record))
        }
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The id of the daemon with this data directory, which tells a hub that it is the same one each time. It is a secret: with
/// it, another daemon could use the join token.
fn daemon_id(data_dir: &Path) -> io::Result<String> {
    let path = data_dir.join(DAEMON_ID_FILE);
    if let Some(id) = private_file::read(&path)? {
        return String::from_utf8(id).map_err(io::Error::other);
    }
    let id = uuid::Uuid::new_v4().to_string();
    private_file::write(&path, id.as_bytes())?;
    Ok(id)
}

async fn recover(app: App, stop: CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep(RECOVER_AFTER) => app.sessions.recover().await,
    }
}
