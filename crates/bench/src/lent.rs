//! A hub with devices and with a runtime that uses them over the relay. A device is either the real program or a
//! light one that runs inside the load generator.

use std::{
    fs, io,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use protocol::relay::{
    Code, DeviceCapabilities, EventFrame, FileCapability, Hello, Json, OfferedRoot, PROTOCOL, RelayError,
    Request,
};
use relay::{Ask, Handler, Limits, Lost, Peer, Refused, Reply, Side, Socket};
use reqwest::Method;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::{net::TcpStream, task::JoinSet};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async_with_config,
    tungstenite::{client::IntoClientRequest, http::header, protocol::WebSocketConfig},
};

use super::{Lab, server::tie};
use testkit::{TestHub, TestHubOptions};

/// The longest time until the hub reports a new device as connected.
const CONNECT_MAX: Duration = Duration::from_secs(30);

/// The pause between two requests for the state of a device.
const CONNECT_POLL: Duration = Duration::from_millis(20);

/// The id of the runtime that uses the devices.
const RUNTIME: &str = "box";

/// The rate limit of the hub. Setting up hundreds of devices takes more requests per second than the default allows.
const REQUESTS_PER_SECOND: &str = "10000";

/// A client WebSocket of the load generator.
pub(crate) type Ws = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A hub that knows the runtime `box`.
#[derive(Debug)]
pub(crate) struct Lender(TestHub);

/// The path and the secret with which a runtime connects to an environment, and so to a device.
#[derive(Debug)]
pub(crate) struct Door {
    path: String,
    secret: String,
}

impl Lender {
    pub(crate) async fn start(lab: &Lab) -> Self {
        let options = TestHubOptions::default().arg("--requests-per-second").arg(REQUESTS_PER_SECOND);
        let hub = options.start(&lab.ours);
        // The hub requires an endpoint for a runtime. It never connects to it here, because only the relay is
        // measured.
        hub.add_runtime(RUNTIME, "http://127.0.0.1:9", None).await;
        Self(hub)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.pid()
    }

    /// Registers a device at the hub and grants its files and its shell to the runtime. Returns the token of the
    /// device.
    pub(crate) async fn let_in(&self, client_id: &str) -> io::Result<String> {
        let added = self.told("/api/devices", &json!({ "clientId": client_id })).await?;
        let root = json!({ "root_id": "main", "virtual_path": "/workspace/main", "mode": "rw" });
        let shell = json!({ "approval_policy": "allow", "env": [], "network": "none" });
        let capabilities = json!([
            { "capability": "fileops", "enabled": true, "roots": [root] },
            { "capability": "shell", "enabled": true, "shell": shell },
        ]);
        let grant = json!({ "clientId": client_id, "runtimeId": RUNTIME, "capabilities": capabilities });
        self.told("/api/grants", &grant).await?;
        text(&added["secret"])
    }

    /// Creates an environment for a device.
    pub(crate) async fn door(&self, client_id: &str) -> io::Result<Door> {
        let add = json!({ "runtimeId": RUNTIME, "clientId": client_id });
        let added = self.told("/api/v1/relay/environments", &add).await?;
        let path = format!("/api/v1/relay/environments/{}/connect", text(&added["environment"]["id"])?);
        Ok(Door { path, secret: text(&added["secret"])? })
    }

    /// Waits until the hub reports a device as connected.
    pub(crate) async fn knows(&self, client_id: &str) -> io::Result<()> {
        let since = Instant::now();
        loop {
            let asked = self.0.request(Method::GET, &format!("/api/devices/{client_id}")).send();
            let device: Value =
                asked.await.map_err(io::Error::other)?.json().await.map_err(io::Error::other)?;
            if !device["connection"].is_null() {
                return Ok(());
            }
            if since.elapsed() > CONNECT_MAX {
                return Err(io::Error::other("the device did not connect"));
            }
            tokio::time::sleep(CONNECT_POLL).await;
        }
    }

    /// Sends a `POST` request to the hub and returns its JSON response.
    async fn told(&self, path: &str, body: &Value) -> io::Result<Value> {
        let response =
            self.0.request(Method::POST, path).json(body).send().await.map_err(io::Error::other)?;
        let (status, text) = (response.status(), response.text().await.map_err(io::Error::other)?);
        if status.is_success() {
            return Ok(serde_json::from_str(&text)?);
        }
        Err(io::Error::other(format!("{path}: {status} {text}")))
    }

    /// Connects to an environment as the runtime.
    pub(crate) async fn runtime(&self, door: &Door) -> io::Result<End> {
        let hello = hello(RUNTIME, "runtime", DeviceCapabilities::default());
        End::open(self.0.base(), &door.path, &door.secret, hello).await
    }

    /// Connects a device that lives inside this process. It returns the same metadata for every file.
    pub(crate) async fn light_device(&self, client_id: &str, token: &str) -> io::Result<End> {
        let root = OfferedRoot {
            root_id: "main".into(),
            label: None,
            virtual_path: "/workspace/main".into(),
            mode: "rw".into(),
        };
        let fileops = Some(FileCapability { enabled: true, roots: vec![root] });
        let hello =
            hello(client_id, "headless", DeviceCapabilities { fileops, ..DeviceCapabilities::default() });
        End::open(self.0.base(), "/api/v1/relay/connect", token, hello).await
    }
}

fn text(value: &Value) -> io::Result<String> {
    value.as_str().map(str::to_owned).ok_or_else(|| io::Error::other("the hub left something out"))
}

fn hello(client_id: &str, kind: &str, capabilities: DeviceCapabilities) -> Hello {
    Hello {
        protocol: PROTOCOL.into(),
        client_id: client_id.into(),
        client_kind: kind.into(),
        client_version: "1".into(),
        capabilities,
    }
}

/// A relay connection from this process to the hub, as a device or as a runtime.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) peer: Peer,
    /// The task that reads and writes the socket. Dropping the set aborts it and closes the connection.
    _driving: JoinSet<Lost>,
}

impl End {
    async fn open(base: &str, path: &str, token: &str, hello: Hello) -> io::Result<Self> {
        let limits = Limits::default();
        let socket = websocket(base, path, Some(token), relay::config(&limits)).await?;
        let side = Side::Device(Box::new(hello));
        let (peer, driver) = Peer::start(Socket::new(socket), Answers, side, limits);
        let mut driving = JoinSet::new();
        driving.spawn(driver);
        peer.accepted().await.map_err(failed)?;
        Ok(Self { peer, _driving: driving })
    }

    /// Sends a request and waits for its result.
    pub(crate) async fn ask(&self, method: &str, params: &Json) -> Result<Json, RelayError> {
        self.peer.request(Ask::new(method, params.clone())).await.outcome().await
    }
}

/// Converts an error of the relay.
pub(crate) fn failed(error: RelayError) -> io::Error {
    io::Error::other(error)
}

/// Opens a WebSocket at an `http` base URL.
pub(crate) async fn websocket(
    base: &str,
    path: &str,
    token: Option<&str>,
    config: WebSocketConfig,
) -> io::Result<Ws> {
    let url = format!("{}{path}", base.replacen("http", "ws", 1));
    let mut request = url.into_client_request().map_err(io::Error::other)?;
    if let Some(token) = token {
        let bearer = format!("Bearer {token}").parse().map_err(io::Error::other)?;
        request.headers_mut().insert(header::AUTHORIZATION, bearer);
    }
    let opened = connect_async_with_config(request, Some(config), true).await;
    opened.map(|(socket, _)| socket).map_err(io::Error::other)
}

/// Handles requests to a light device. A runtime has the same handler, but receives no requests.
struct Answers;

#[async_trait]
impl Handler for Answers {
    async fn hello(&self, _: Hello) -> Result<Map<String, Value>, Refused> {
        Err(Refused("nobody comes here".into()))
    }

    async fn request(&self, request: Request, _: &mut Reply) -> Result<Json, RelayError> {
        match request.method.as_str() {
            "file.stat" => Ok(Json::from_value(&json!({ "kind": "file", "size_bytes": 5 }))),
            _ => Err(RelayError::new(Code::UnknownMethod, "there are only files here")),
        }
    }

    fn event(&self, _: EventFrame) {}
}

/// The real device program, which offers the directory `files` and a shell. Dropping this kills it.
#[derive(Debug)]
pub(crate) struct Device {
    child: Child,
    home: TempDir,
}

impl Device {
    /// Starts the device `laptop` and waits until the hub reports it as connected.
    pub(crate) async fn connect(lab: &Lab, lender: &Lender) -> io::Result<Self> {
        let home = TempDir::new_in(&lab.dir)?;
        let (files, token) = (home.path().join("files"), home.path().join("token"));
        fs::create_dir(&files)?;
        fs::write(&token, lender.let_in("laptop").await?)?;
        let mut command = Command::new(&lab.ours);
        command.args(["device", "connect", lender.0.base(), "--client-id", "laptop", "--shell"]);
        command.arg("--root").arg(format!("main={}:rw", files.display()));
        command.arg("--token-file").arg(token).arg("--data-dir").arg(home.path().join("data"));
        command.env("HOME", home.path()).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(fs::File::create(home.path().join("log"))?);
        tie(&mut command);
        let device = Self { child: command.spawn()?, home };
        lender.knows("laptop").await?;
        Ok(device)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The directory that the device offers.
    pub(crate) fn files(&self) -> PathBuf {
        self.home.path().join("files")
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
