//! A runtime without a daemon, with one worker that can be observed.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use agent_catalog::{Catalog, UserAgent};
use agent_install::{self as install, Installer};
use axum::{Router, extract::State, response::Response, routing::get};
use futures_util::future::{BoxFuture, ready};
use protocol::{
    AgentName, SessionId,
    config::Skill,
    sessions::{CreateSessionRequest, SendMessageRequest, WhenBusy},
};
use server::{OpenWebSockets, WebSocketUpgrade};
use tempfile::TempDir;
use tokio::{net::TcpSocket, sync::Notify, task::JoinSet};
use websocket::KeepAlive;
use worker_runtime::{Config, DirectorySettings, Sessions, Settings, ws};

/// How long a test waits for a fact; less than any idle timeout of the product.
const WAIT_MAX: Duration = Duration::from_secs(15);

/// A small buffer, so that the server soon notices a peer that does not read.
const SEND_BUFFER_BYTES: u32 = 4 << 10;

/// A runtime and its worker `s`.
pub(crate) struct Runtime {
    pub(crate) sessions: Sessions,
    /// The address at which the worker can be observed.
    pub(crate) address: SocketAddr,
    /// Notified when an observation has ended and its resources are freed.
    pub(crate) left: Arc<Notify>,
    _served: JoinSet<std::io::Result<()>>,
    _home: TempDir,
}

impl Runtime {
    pub(crate) async fn start(keep_alive: KeepAlive) -> Self {
        let home = TempDir::new().unwrap();
        let (sessions, left) = (sessions(&home), Arc::new(Notify::new()));
        let create: CreateSessionRequest = serde_json::from_str(r#"{ "agent": "mock" }"#).unwrap();
        assert!(sessions.create(&id(), create).await.unwrap().healthy);
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_send_buffer_size(SEND_BUFFER_BYTES).unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(8).unwrap();
        let address = listener.local_addr().unwrap();
        let app =
            Router::new().route("/", get(watch)).with_state((sessions.clone(), keep_alive, left.clone()));
        let mut served = JoinSet::new();
        served.spawn(async move { axum::serve(listener, app).await });
        Self { sessions, address, left, _served: served, _home: home }
    }

    pub(crate) async fn send(&self, message: &str) {
        let send = SendMessageRequest {
            message: message.into(),
            attachments: Vec::new(),
            when_busy: WhenBusy::default(),
            author: None,
        };
        self.sessions.send(&id(), send, None).await.unwrap();
    }
}

async fn watch(
    State((sessions, keep_alive, left)): State<(Sessions, KeepAlive, Arc<Notify>)>,
    upgrade: server::Result<WebSocketUpgrade>,
) -> server::Result<Response> {
    let observation = sessions.observe(&id(), None).await.unwrap();
    OpenWebSockets::new(1).open(upgrade, ws::INPUT_BYTES_MAX, move |socket| async move {
        ws::serve(socket, observation, keep_alive).await;
        left.notify_one();
    })
}

pub(crate) fn id() -> SessionId {
    "s".parse().unwrap()
}

/// Waits for `fact`, with a limit.
pub(crate) async fn within<T>(fact: impl Future<Output = T>) -> T {
    tokio::time::timeout(WAIT_MAX, fact).await.unwrap()
}

/// No directory has any configuration.
struct NoSettings;

impl Settings for NoSettings {
    fn for_directory(&self, _: PathBuf, _: BTreeMap<String, Skill>) -> BoxFuture<'static, DirectorySettings> {
        Box::pin(ready(DirectorySettings::default()))
    }
}

/// The mock agent, which is built with the tests.
fn mock() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().and_then(Path::parent).unwrap().join("examples/mock-agent")
}

pub(crate) fn sessions(home: &TempDir) -> Sessions {
    sessions_with(home, BTreeMap::new(), Duration::from_secs(120))
}

/// With further agents, which must become ready in this time.
pub(crate) fn sessions_with(
    home: &TempDir,
    agents: BTreeMap<AgentName, UserAgent>,
    ready_timeout: Duration,
) -> Sessions {
    let catalog = Catalog::new(&mock(), agents).unwrap();
    let config = Config {
        directory: home.path().join("sessions"),
        current_dir: home.path().into(),
        env_remove: Vec::new(),
        ready_timeout,
        grace: Duration::from_secs(2),
        answer_timeout: None,
        idle: Duration::from_secs(600),
        sessions_max: 10,
    };
    Sessions::new(config, Installer::new(install::Config::default(), catalog), Arc::new(NoSettings))
}
