//! A hub with a runtime, and those who ask it.

use std::{num::NonZeroU64, time::Duration};

use client::{Client, Endpoint, Token};
use hub::{Config, Hub, Pace, Rate, Retention};
use protocol::{
    EnvironmentId,
    lending::CreateEnvironmentRequest,
    relay::{DeviceCapabilities, Hello, PROTOCOL, RawJson, RelayAuditEntry, RelayContext, RelayError},
};
use relay::{Ask, Handler, Limits, Peer, Refused, Reply, Side, Socket};
use reqwest::{Method, RequestBuilder};
use secrecy::ExposeSecret;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::device::{Device, Offering};

/// How long anything may take in a test.
pub(crate) const SOON: Duration = Duration::from_secs(10);

/// How long somebody may take to approve something.
pub(crate) const APPROVAL_MAX: Duration = Duration::from_secs(2);

/// The file in which whoever runs the hub names runtimes.
const NAMES: &str = "names.json";

/// The value of `future`, which must come soon.
#[track_caller]
pub(crate) fn soon<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let caller = std::panic::Location::caller();
    async move {
        match tokio::time::timeout(SOON, future).await {
            Ok(value) => value,
            Err(_) => panic!("not soon, at {caller}"),
        }
    }
}

/// Returns when `fact` holds, which must be soon.
pub(crate) async fn until<F: Future<Output = bool>>(mut fact: impl FnMut() -> F) {
    soon(async {
        while !fact().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// A hub that knows the runtime `box`, and who manages it.
pub(crate) struct World {
    pub(crate) base: String,
    pub(crate) token: String,
    http: reqwest::Client,
    directory: TempDir,
    set: fn(&mut Config),
    /// None while there is no hub, whose files it keeps.
    files: Option<hub::Files>,
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

impl World {
    /// A hub with the runtime `box`.
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// The same, set otherwise.
    pub(crate) async fn with(set: fn(&mut Config)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (base, token, files, stop, tasks) = start(&directory, set).await;
        let (token, files) = (token.unwrap(), Some(files));
        let world = Self { base, token, http: reqwest::Client::new(), directory, set, files, stop, tasks };
        world.add_runtime("box").await;
        world
    }

    /// Ends the hub and starts it again with the same files.
    pub(crate) async fn restarted(self) -> Self {
        self.restarted_after(|_| {}).await
    }

    /// The same, after something was done to its files.
    pub(crate) async fn restarted_after(mut self, change: impl FnOnce(&std::path::Path)) -> Self {
        self.stop.cancel();
        soon(async { while self.tasks.join_next().await.is_some() {} }).await;
        self.files = None;
        change(self.directory.path());
        let files;
        (self.base, _, files, self.stop, self.tasks) = start(&self.directory, self.set).await;
        self.files = Some(files);
        self
    }

    /// Whoever runs the hub says which runtimes there are, in a file that is then read.
    pub(crate) fn names(&self, runtimes: &Value) {
        std::fs::write(self.file(NAMES), runtimes.to_string()).unwrap();
        self.files.as_ref().unwrap().read_again();
    }

    pub(crate) fn file(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) async fn add_runtime(&self, id: &str) {
        let add = json!({ "id": id, "endpoint": "http://127.0.0.1:9" });
        self.ok(Method::POST, "/api/runtimes", Some(add)).await;
    }

    /// Whoever has this token.
    pub(crate) fn client(&self, token: &str) -> Client {
        let (endpoint, token): (Endpoint, Token) = (self.base.parse().unwrap(), token.parse().unwrap());
        Client::new(endpoint, Some(&token)).unwrap()
    }

    /// A request without credentials.
    pub(crate) fn anonymous(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base))
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.request_as(&self.token, method, path)
    }

    pub(crate) fn request_as(&self, token: &str, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).bearer_auth(token)
    }

    /// What whoever manages the hub is answered.
    pub(crate) async fn ok(&self, method: Method, path: &str, body: Option<Value>) -> Value {
        let mut request = self.request(method, path);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let status = response.status();
        let text = response.text().await.unwrap();
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// What somebody is answered: the status and the body.
    pub(crate) async fn answer(&self, request: RequestBuilder) -> (u16, Value) {
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap_or_default())
    }

    /// Lets a device in; what it connects with.
    pub(crate) async fn let_in(&self, id: &str) -> String {
        let added = self.ok(Method::POST, "/api/devices", Some(json!({ "clientId": id }))).await;
        added["secret"].as_str().unwrap().to_owned()
    }

    /// Grants the runtime `box` these capabilities of a device; the name of the grant.
    pub(crate) async fn grant(&self, id: &str, capabilities: Value) -> String {
        self.grant_to("box", id, capabilities).await
    }

    /// The same for any runtime.
    pub(crate) async fn grant_to(&self, runtime: &str, id: &str, capabilities: Value) -> String {
        let add = json!({ "clientId": id, "runtimeId": runtime, "capabilities": capabilities });
        let grant = self.ok(Method::POST, "/api/grants", Some(add)).await;
        grant["grant_id"].as_str().unwrap().to_owned()
    }

    /// A device `laptop` that is let in, granted and connected.
    pub(super) async fn lend(&self, offering: Offering, capabilities: Value) -> Device {
        let token = self.let_in("laptop").await;
        self.grant("laptop", capabilities).await;
        self.connect(&token, offering).await
    }

    /// Connects a device and waits until it is known.
    pub(super) async fn connect(&self, token: &str, offering: Offering) -> Device {
        let device = Device::connect(&self.client(token), "laptop", offering).await.unwrap();
        let id = soon(device.accepted()).await.connection_id;
        until(|| async { self.connection("laptop").await["connectionId"] == id.as_str() }).await;
        device
    }

    /// How a device is connected, as the hub says it.
    pub(crate) async fn connection(&self, id: &str) -> Value {
        self.ok(Method::GET, &format!("/api/devices/{id}"), None).await["connection"].clone()
    }

    /// An environment of the runtime `box` with the device `laptop`.
    pub(crate) async fn environment(&self, more: Value) -> Environment {
        let mut add = json!({ "runtimeId": "box", "clientId": "laptop" });
        add.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let add: CreateEnvironmentRequest = serde_json::from_value(add).unwrap();
        let added = self.client(&self.token).environments().add(&add).await.unwrap().read().unwrap();
        Environment { id: added.environment.id, secret: added.secret }
    }

    /// Asks once; what comes of it.
    pub(crate) async fn ask(&self, environment: &Environment, method: &str, params: Value) -> (u16, Value) {
        self.post(environment, json!({ "method": method, "params": params }).to_string()).await
    }

    /// The same with all that can be said, as it is written.
    pub(crate) async fn post(&self, environment: &Environment, body: String) -> (u16, Value) {
        let path = format!("/api/v1/relay/environments/{}/requests", environment.id);
        let request = self.request_as(&environment.secret, Method::POST, &path);
        soon(self.answer(request.header("content-type", "application/json").body(body))).await
    }

    /// The code of the error that comes of asking.
    pub(crate) async fn error(&self, environment: &Environment, method: &str, params: Value) -> String {
        let (status, body) = self.ask(environment, method, params).await;
        assert!(status >= 400, "{body}");
        body["relay"]["code"].as_str().unwrap_or_else(|| panic!("{body}")).to_owned()
    }

    /// A runtime that uses the environment over a WebSocket.
    pub(crate) async fn runtime(&self, environment: &Environment) -> Runtime {
        let limits = Limits::default();
        let client = self.client(&environment.secret);
        let socket = client.environments().connect(environment.id, relay::config(&limits)).await.unwrap();
        let hello = Hello {
            protocol: PROTOCOL.into(),
            client_id: "box".into(),
            client_kind: "runtime".into(),
            client_version: "1".into(),
            capabilities: DeviceCapabilities::default(),
        };
        let events = tokio::sync::broadcast::Sender::new(64);
        let hears = Hears(events.clone());
        let (peer, driver) = Peer::start(Socket::new(socket), hears, Side::Device(Box::new(hello)), limits);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { driver.await.to_string() });
        soon(peer.accepted()).await.unwrap();
        Runtime { peer, events, tasks }
    }

    /// Everything that was written down of what was asked of devices.
    pub(crate) async fn audit(&self) -> Vec<RelayAuditEntry> {
        let items = self.raw_audit().await;
        items.into_iter().map(|item| serde_json::from_value(item).unwrap()).collect()
    }

    pub(crate) async fn raw_audit(&self) -> Vec<Value> {
        let page = self.ok(Method::GET, "/api/v1/relay/audit", None).await;
        page["items"].as_array().unwrap().clone()
    }
}

async fn start(
    directory: &TempDir,
    set: fn(&mut Config),
) -> (String, Option<String>, hub::Files, CancellationToken, JoinSet<()>) {
    let plenty = Rate { burst: 1_000_000, every: Duration::from_nanos(1) };
    let mut config = Config {
        address: "127.0.0.1:0".parse().unwrap(),
        hosts: Vec::new(),
        cors: server::CorsConfig::default(),
        data_dir: directory.path().to_owned(),
        runtimes: Some(directory.path().join(NAMES)),
        backlog: Retention { events: NonZeroU64::new(64).unwrap(), bytes: NonZeroU64::new(1 << 20).unwrap() },
        policy: None,
        pace: Pace::default(),
        failures: plenty,
        requests: plenty,
        public_url: None,
        approval_max: APPROVAL_MAX,
        frame_bytes_max: 1 << 20,
        stall: Duration::from_secs(30),
    };
    set(&mut config);
    if !directory.path().join(NAMES).exists() {
        std::fs::write(directory.path().join(NAMES), "[]").unwrap();
    }
    let mut hub = Hub::bind(&config).await.unwrap();
    let base = format!("http://{}", hub.address().unwrap());
    let token = hub.take_new_token().map(|token| token.expose_secret().to_owned());
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    let files = hub.files();
    tasks.spawn(hub.serve(stop.clone()));
    (base, token, files, stop, tasks)
}

/// What a session uses.
#[derive(Clone)]
pub(crate) struct Environment {
    pub(crate) id: EnvironmentId,
    pub(crate) secret: String,
}

/// A runtime at the other end of a WebSocket.
pub(crate) struct Runtime {
    pub(crate) peer: Peer,
    pub(crate) events: tokio::sync::broadcast::Sender<(String, Value)>,
    tasks: JoinSet<String>,
}

impl Runtime {
    /// What comes of asking.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Result<Value, RelayError> {
        self.ask_for(method, params, RelayContext::default()).await
    }

    pub(crate) async fn ask_for(
        &self,
        method: &str,
        params: Value,
        context: RelayContext,
    ) -> Result<Value, RelayError> {
        let call = self.peer.request(Ask::new(method, RawJson::from_value(&params)).context(context)).await;
        soon(call.outcome()).await.map(|result| result.read().unwrap())
    }

    /// Waits until the connection has ended; why.
    pub(crate) async fn ended(&mut self) -> String {
        soon(self.tasks.join_next()).await.unwrap().unwrap()
    }
}

struct Hears(tokio::sync::broadcast::Sender<(String, Value)>);

#[async_trait::async_trait]
impl Handler for Hears {
    async fn hello(&self, _: Hello) -> Result<Map<String, Value>, Refused> {
        Err(Refused("a runtime accepts nobody".into()))
    }

    async fn request(&self, _: protocol::relay::Request, _: &mut Reply) -> Result<RawJson, RelayError> {
        Err(RelayError::new(protocol::relay::RelayErrorCode::InvalidRequest, "a runtime is not asked"))
    }

    fn event(&self, event: protocol::relay::EventFrame) {
        let _ = self.0.send((event.event, event.payload.read().unwrap()));
    }
}

/// Files: the root `main`, with this mode.
pub(crate) fn files(mode: &str) -> Value {
    json!({ "capability": "fileops", "enabled": true, "roots": [
        { "root_id": "main", "virtual_path": "/workspace/main", "mode": mode },
    ] })
}

/// Commands, without asking.
pub(crate) fn shell() -> Value {
    json!({ "capability": "shell", "enabled": true, "shell": { "approval_policy": "allow" } })
}

/// Tools.
pub(crate) fn tools() -> Value {
    json!({ "capability": "tools", "enabled": true })
}

/// What reads `README.md`.
pub(crate) fn readme() -> Value {
    json!({ "root_id": "main", "path": "README.md" })
}
