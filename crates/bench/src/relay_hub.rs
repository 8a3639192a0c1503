//! A hub with devices and with a runtime that uses them over the relay. A device is either the real program
//! ([`DeviceProcess`](super::device_process::DeviceProcess)) or a light one that runs inside the load generator.

use std::{
    io,
    time::{Duration, Instant},
};

use protocol::relay::{DeviceCapabilities, FileCapability, Hello, OfferedRoot, PROTOCOL};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{TestHub, TestHubOptions};

use super::{BenchSetup, relay_connection::RelayConnection};

/// The longest time until the hub reports a new device as connected.
const CONNECT_MAX: Duration = Duration::from_secs(30);

/// The pause between two requests for the state of a device.
const CONNECT_POLL: Duration = Duration::from_millis(20);

/// The id of the runtime that uses the devices.
const RUNTIME: &str = "box";

/// The rate limit of the hub. Setting up hundreds of devices takes more requests per second than the default allows.
const REQUESTS_PER_SECOND: &str = "10000";

/// A hub that knows the runtime `box`.
#[derive(Debug)]
pub(crate) struct RelayHub(TestHub);

/// The path and the secret with which a runtime connects to an environment, and so to a device.
#[derive(Debug)]
pub(crate) struct EnvironmentCredentials {
    path: String,
    secret: String,
}

impl RelayHub {
    pub(crate) async fn start(setup: &BenchSetup) -> Self {
        let options = TestHubOptions::default().arg("--requests-per-second").arg(REQUESTS_PER_SECOND);
        let hub = options.start(&setup.ours);
        // The hub requires an endpoint for a runtime. It never connects to it here, because only the relay is
        // measured.
        hub.add_runtime(RUNTIME, "http://127.0.0.1:9", None).await;
        Self(hub)
    }

    pub(crate) fn base(&self) -> &str {
        self.0.base()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.pid()
    }

    /// Registers a device at the hub and grants its files and its shell to the runtime. Returns the token of the
    /// device.
    pub(crate) async fn register_device(&self, client_id: &str) -> io::Result<String> {
        let added = self.post("/api/devices", &json!({ "clientId": client_id })).await?;
        let root = json!({ "root_id": "main", "virtual_path": "/workspace/main", "mode": "rw" });
        let shell = json!({ "approval_policy": "allow", "env": [], "network": "none" });
        let capabilities = json!([
            { "capability": "fileops", "enabled": true, "roots": [root] },
            { "capability": "shell", "enabled": true, "shell": shell },
        ]);
        let grant = json!({ "clientId": client_id, "runtimeId": RUNTIME, "capabilities": capabilities });
        self.post("/api/grants", &grant).await?;
        string_field(&added["secret"])
    }

    /// Creates an environment for a device.
    pub(crate) async fn create_environment(&self, client_id: &str) -> io::Result<EnvironmentCredentials> {
        let add = json!({ "runtimeId": RUNTIME, "clientId": client_id });
        let added = self.post("/api/v1/relay/environments", &add).await?;
        let path =
            format!("/api/v1/relay/environments/{}/connect", string_field(&added["environment"]["id"])?);
        Ok(EnvironmentCredentials { path, secret: string_field(&added["secret"])? })
    }

    /// Waits until the hub reports a device as connected.
    pub(crate) async fn wait_until_connected(&self, client_id: &str) -> io::Result<()> {
        let since = Instant::now();
        loop {
            let request = self.0.request(Method::GET, &format!("/api/devices/{client_id}")).send();
            let device: Value =
                request.await.map_err(io::Error::other)?.json().await.map_err(io::Error::other)?;
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
    async fn post(&self, path: &str, body: &Value) -> io::Result<Value> {
        let response =
            self.0.request(Method::POST, path).json(body).send().await.map_err(io::Error::other)?;
        let (status, text) = (response.status(), response.text().await.map_err(io::Error::other)?);
        if status.is_success() {
            return Ok(serde_json::from_str(&text)?);
        }
        Err(io::Error::other(format!("{path}: {status} {text}")))
    }

    /// Connects to an environment as the runtime.
    pub(crate) async fn connect_runtime(
        &self,
        credentials: &EnvironmentCredentials,
    ) -> io::Result<RelayConnection> {
        let hello = hello(RUNTIME, "runtime", DeviceCapabilities::default());
        RelayConnection::open(self.0.base(), &credentials.path, &credentials.secret, hello).await
    }

    /// Connects a device that lives inside this process. It returns the same metadata for every file.
    pub(crate) async fn connect_light_device(
        &self,
        client_id: &str,
        token: &str,
    ) -> io::Result<RelayConnection> {
        let root = OfferedRoot {
            root_id: "main".into(),
            label: None,
            virtual_path: "/workspace/main".into(),
            mode: "rw".into(),
        };
        let fileops = Some(FileCapability { enabled: true, roots: vec![root] });
        let hello =
            hello(client_id, "headless", DeviceCapabilities { fileops, ..DeviceCapabilities::default() });
        RelayConnection::open(self.0.base(), "/api/v1/relay/connect", token, hello).await
    }
}

fn string_field(value: &Value) -> io::Result<String> {
    value
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| io::Error::other("a field is missing in the response of the hub"))
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
