//! A hub that lends devices, the real ones and light ones in this process, and runtimes that use them.

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
use testkit::{Hub, HubOptions};

/// How long a device may take until the hub knows it.
const CONNECT_MAX: Duration = Duration::from_secs(30);

/// How often the hub is asked whether it does.
const CONNECT_POLL: Duration = Duration::from_millis(20);

/// The runtime that uses the devices.
const RUNTIME: &str = "box";

/// Setting up hundreds of devices takes more requests than people make.
const REQUESTS_PER_SECOND: &str = "10000";

/// A WebSocket of this process.
pub(crate) type Ws = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A hub with the runtime `box`.
#[derive(Debug)]
pub(crate) struct Lender(Hub);

/// What a runtime uses a device with.
#[derive(Debug)]
pub(crate) struct Door {
    path: String,
    secret: String,
}

impl Lender {
    pub(crate) async fn start(lab: &Lab) -> Self {
        let options = HubOptions::default().arg("--requests-per-second").arg(REQUESTS_PER_SECOND);
        let hub = options.start(&lab.ours);
        // Nobody is asked there: only devices are used.
        hub.add(RUNTIME, "http://127.0.0.1:9", None).await;
        Self(hub)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.pid()
    }

    /// Lets a device in and grants what it has; its token.
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

    /// Makes an environment with a device.
    pub(crate) async fn door(&self, client_id: &str) -> io::Result<Door> {
        let add = json!({ "runtimeId": RUNTIME, "clientId": client_id });
        let added = self.told("/api/v1/relay/environments", &add).await?;
        let path = format!("/api/v1/relay/environments/{}/connect", text(&added["environment"]["id"])?);
        Ok(Door { path, secret: text(&added["secret"])? })
    }

    /// Waits until a device is there.
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

    async fn told(&self, path: &str, body: &Value) -> io::Result<Value> {
        let response =
            self.0.request(Method::POST, path).json(body).send().await.map_err(io::Error::other)?;
        let (status, text) = (response.status(), response.text().await.map_err(io::Error::other)?);
        if status.is_success() {
            return Ok(serde_json::from_str(&text)?);
        }
        Err(io::Error::other(format!("{path}: {status} {text}")))
    }

    /// A runtime that uses a device over a WebSocket.
    pub(crate) async fn runtime(&self, door: &Door) -> io::Result<End> {
        let hello = hello(RUNTIME, "runtime", DeviceCapabilities::default());
        End::open(self.0.base(), &door.path, &door.secret, hello).await
    }

    /// A device that is no process of its own: it has files, and says the same of each of them.
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

/// One end of a connection to the hub.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) peer: Peer,
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

    /// What comes of asking.
    pub(crate) async fn ask(&self, method: &str, params: &Json) -> Result<Json, RelayError> {
        self.peer.request(Ask::new(method, params.clone())).await.outcome().await
    }
}

/// What the relay says of why nothing came of a request.
pub(crate) fn failed(error: RelayError) -> io::Error {
    io::Error::other(error)
}

/// Opens a WebSocket.
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

/// Who answers as a light device, and for a runtime, which is not asked.
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

/// A device that is the real program, with the directory `files` and commands.
#[derive(Debug)]
pub(crate) struct Device {
    child: Child,
    home: TempDir,
}

impl Device {
    /// Starts the device `laptop` and waits until the hub knows it.
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

    /// The directory that it lends.
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
