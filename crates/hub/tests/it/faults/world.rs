//! A runtime, a hub and somebody who watches, with real sockets between them.

use std::{collections::HashMap, net::SocketAddr, num::NonZeroU64, path::PathBuf, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use bytes::Bytes;
use client::{Client, WorkerStream};
use hub::{Config, Down, Hub, Pace, Rate, Runtime as _, Upstream};
use journal::Retention;
use parking_lot::Mutex;
use protocol::{
    SessionId, WorkspaceName,
    hub::AddRuntimeRequest,
    observation::{DiagnosticKind, StreamCloseCode, StreamEnd, StreamLeg as Side},
};
use secrecy::ExposeSecret;
use server::{
    OpenWebSockets, WebSocketUpgrade,
    observation::{self, ObservationSource},
};
use tokio::{net::TcpListener, runtime::Runtime, task::JoinSet};
use tokio_util::sync::CancellationToken;
use websocket::KeepAlive;

use super::leg::Leg;
use crate::{
    bus::{Bus, Host},
    viewer::runtime as name,
};

/// So little is kept that it sometimes does not do.
const SMALL: Retention =
    Retention { events: NonZeroU64::new(24).unwrap(), bytes: NonZeroU64::new(1 << 20).unwrap() };

/// Whoever is silent for so long is taken for lost; a busy machine makes that wrong at times, which is one more fault.
pub(super) const KEEP_ALIVE: KeepAlive =
    KeepAlive { ping_interval: Duration::from_millis(20), idle_timeout: Duration::from_millis(70) };

/// How long the hub waits for others.
const PACE: Pace = Pace {
    answer_max: Duration::from_millis(70),
    response_timeout: Duration::from_secs(30),
    pause_min: Duration::from_millis(1),
    pause_max: Duration::from_millis(8),
    linger: Duration::from_millis(50),
    keep_alive: KEEP_ALIVE,
};

/// Nobody is told to come more slowly.
const OFTEN: Rate = Rate { burst: 1 << 20, every: Duration::from_nanos(1) };

/// A server that can be killed: nothing of it is left, and nobody is told.
struct Server {
    runtime: Option<Runtime>,
    address: SocketAddr,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Server {
    /// Waits until nothing of it is left: as with a process that was killed, its files are free then.
    async fn killed(mut self) {
        let runtime = self.runtime.take().unwrap();
        tokio::task::spawn_blocking(|| drop(runtime)).await.unwrap();
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// All that stays when something is killed, and all that is there now.
pub(super) struct World {
    buses: Buses,
    directory: PathBuf,
    backend: Option<Server>,
    daemon: Option<Server>,
    pub(super) up: Arc<Leg>,
    pub(super) down: Arc<Leg>,
    client: Client,
    _tasks: JoinSet<()>,
}

type Buses = Arc<Mutex<HashMap<SessionId, Arc<Bus>>>>;

impl World {
    pub(super) async fn new(directory: PathBuf) -> Self {
        let buses = Buses::default();
        let daemon = daemon(Arc::clone(&buses)).await;
        let mut tasks = JoinSet::new();
        let up = Leg::new(daemon.address, &mut tasks).await;
        let (backend, token) = backend(directory.clone()).await;
        let down = Leg::new(backend.address, &mut tasks).await;
        let token = token.unwrap().parse().unwrap();
        let client = Client::new(format!("http://{}", down.address).parse().unwrap(), Some(&token)).unwrap();
        let endpoint = format!("http://{}", up.address);
        let add =
            AddRuntimeRequest { id: name(), workspace: WorkspaceName::default(), endpoint, token: None };
        client.runtimes().add(&add).await.unwrap();
        let (backend, daemon) = (Some(backend), Some(daemon));
        Self { buses, directory, backend, daemon, up, down, client, _tasks: tasks }
    }

    /// A worker that nobody knows yet.
    pub(super) fn worker(&self, name: &str) -> Arc<Bus> {
        let bus = Bus::named(name.parse().unwrap());
        self.buses.lock().clear();
        self.buses.lock().insert(bus.name.clone(), Arc::clone(&bus));
        bus
    }

    /// The hub is killed; another takes its place, with the same files.
    pub(super) async fn restart_hub(&mut self) {
        if let Some(backend) = self.backend.take() {
            backend.killed().await;
        }
        let (backend, _) = backend(self.directory.clone()).await;
        self.down.lead_to(backend.address);
        self.backend = Some(backend);
    }

    /// The runtime is killed; another takes its place.
    pub(super) async fn restart_runtime(&mut self) {
        self.daemon = None;
        let daemon = daemon(Arc::clone(&self.buses)).await;
        self.up.lead_to(daemon.address);
        self.daemon = Some(daemon);
    }

    /// Begins to watch, if that can be done now.
    pub(super) async fn watch(&self, bus: &Bus, cursor: Option<String>) -> Option<WorkerStream> {
        let client = self.client.clone();
        let worker = bus.name.clone();
        let watched = async move { client.runtimes().watch(&name(), &worker, cursor.as_deref()).await };
        let watched = tokio::time::timeout(2 * KEEP_ALIVE.idle_timeout, watched).await.ok()?.ok()?;
        Some(watched.with_silence_max(KEEP_ALIVE.idle_timeout))
    }
}

/// A hub with all that belongs to it, and its token if it is the first.
async fn backend(directory: PathBuf) -> (Server, Option<String>) {
    let config = Config {
        address: "127.0.0.1:0".parse().unwrap(),
        hosts: Vec::new(),
        cors: Default::default(),
        data_dir: directory,
        runtimes: None,
        backlog: SMALL,
        policy: None,
        pace: PACE,
        failures: OFTEN,
        requests: OFTEN,
        public_url: None,
        approval_max: Duration::from_secs(60),
        frame_bytes_max: 1 << 20,
        stall: Duration::from_secs(1),
    };
    let own = runtime();
    let (address, token) = own
        .spawn(async move {
            let mut hub = Hub::bind(&config).await.unwrap();
            let address = hub.address().unwrap();
            let token = hub.take_new_token().map(|token| token.expose_secret().to_owned());
            (address, token, hub)
        })
        .await
        .map(|(address, token, hub)| {
            own.spawn(hub.serve(CancellationToken::new()));
            (address, token)
        })
        .unwrap();
    (Server { runtime: Some(own), address }, token)
}

/// A runtime with the workers: the frames of the bus on a real stream.
async fn daemon(buses: Buses) -> Server {
    let own = runtime();
    let listener = own.spawn(TcpListener::bind("127.0.0.1:0")).await.unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().route("/v1/workers/{worker}/events/ws", get(show)).with_state(buses);
    own.spawn(async move { axum::serve(listener, router).await });
    Server { runtime: Some(own), address }
}

async fn show(
    State(buses): State<Buses>,
    Path(worker): Path<SessionId>,
    Query(query): Query<HashMap<String, String>>,
    upgrade: server::Result<WebSocketUpgrade>,
) -> Response {
    let Some(bus) = buses.lock().get(&worker).cloned() else { return StatusCode::NOT_FOUND.into_response() };
    match Host(bus).watch(&worker, query.get("cursor").map(String::as_str)).await {
        Ok(heard) => {
            let serve = |socket| observation::serve(socket, Heard(heard), KEEP_ALIVE);
            let opened = OpenWebSockets::new(1).open(upgrade, observation::INPUT_BYTES_MAX, serve);
            opened.unwrap_or_else(IntoResponse::into_response)
        }
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

struct Heard(Box<dyn Upstream>);

impl ObservationSource for Heard {
    const LEG: Side = Side::Runtime;

    async fn next(&mut self) -> Result<Vec<Bytes>, StreamEnd> {
        match self.0.next().await {
            Ok(Some(frame)) => Ok(vec![frame.into()]),
            Ok(None) => Err(StreamEnd::without_diagnostic(StreamCloseCode::AWAY)),
            Err(Down::NoWorker) => Err(StreamEnd::new(Side::Runtime, DiagnosticKind::WorkerNotFound, "gone")),
            Err(_) => Err(StreamEnd::without_diagnostic(StreamCloseCode::INTERNAL)),
        }
    }
}
