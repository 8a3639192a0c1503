//! `/api/v1/relay`: a device that comes to its hub, what sessions use of it, and what was asked of it.

use protocol::{
    EnvironmentId, WaitId, WorkspaceName,
    lending::{
        CreateEnvironmentRequest, DeviceRequest, Environment, EnvironmentCreated, EnvironmentList,
        RelayAuditPage, RelayStatus, SetWorkspaceRelayRequest, WorkspaceRelaySettings,
    },
};
use reqwest::Method;
use serde_json::Value;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::{Answer, Client, Result, WebSocket, handshake};

/// The route of environments.
const ENVIRONMENTS: [&str; 4] = ["api", "v1", "relay", "environments"];

impl Client {
    /// Connects a device to the hub; the token says which.
    pub async fn relay_connect(&self, config: WebSocketConfig) -> Result<WebSocket> {
        let request = self.request(Method::GET, &["api", "v1", "relay", "connect"]);
        handshake::open_with(request, Some(config)).await
    }
}

/// What is lent through a hub.
#[derive(Debug, Clone, Copy)]
pub struct Relay<'a>(pub(crate) &'a Client);

impl Relay<'_> {
    /// How it is with everything that is lent.
    pub async fn status(self) -> Result<Answer<RelayStatus>> {
        self.0.ask(Method::GET, &["api", "v1", "relay", "status"], &[]).await
    }

    /// Reads the entries of the relay's audit after the one with the sequence number `after`.
    pub async fn audit(self, after: u64, limit: Option<u32>) -> Result<Answer<RelayAuditPage>> {
        let cursor = after.to_string();
        let limit = limit.map(|limit| limit.to_string());
        let query = [("cursor", Some(cursor.as_str())), ("limit", limit.as_deref())];
        self.0.ask(Method::GET, &["api", "v1", "relay", "audit"], &query).await
    }

    /// Takes back what was approved for more than once.
    pub async fn forget(self, id: WaitId) -> Result<Answer<()>> {
        self.0.ask(Method::DELETE, &["api", "v1", "relay", "approvals", &id.to_string()], &[]).await
    }

    /// Says whether devices are lent in a workspace.
    pub async fn set_enabled(
        self,
        workspace: &WorkspaceName,
        enabled: bool,
    ) -> Result<Answer<WorkspaceRelaySettings>> {
        let segments = ["api", "workspaces", workspace.as_str(), "relay"];
        self.0.tell(Method::PUT, &segments, &[], &SetWorkspaceRelayRequest { enabled }).await
    }
}

/// What sessions use of devices.
#[derive(Debug, Clone, Copy)]
pub struct Environments<'a>(pub(crate) &'a Client);

impl Environments<'_> {
    /// Every environment.
    pub async fn list(self) -> Result<Answer<EnvironmentList>> {
        self.0.ask(Method::GET, &ENVIRONMENTS, &[]).await
    }

    /// Lets a runtime use a device.
    pub async fn add(self, add: &CreateEnvironmentRequest) -> Result<Answer<EnvironmentCreated>> {
        self.0.tell(Method::POST, &ENVIRONMENTS, &[], add).await
    }

    /// How an environment is.
    pub async fn get(self, id: EnvironmentId) -> Result<Answer<Environment>> {
        self.0.ask(Method::GET, &of(&id.to_string(), None), &[]).await
    }

    /// Ends an environment.
    pub async fn remove(self, id: EnvironmentId) -> Result<Answer<()>> {
        self.0.ask(Method::DELETE, &of(&id.to_string(), None), &[]).await
    }

    /// Uses a device over a WebSocket; the token of the client is that of the environment.
    pub async fn connect(self, id: EnvironmentId, config: WebSocketConfig) -> Result<WebSocket> {
        let request = self.0.request(Method::GET, &of(&id.to_string(), Some("connect")));
        handshake::open_with(request, Some(config)).await
    }

    /// Asks one thing of a device; the token of the client is that of the environment.
    pub async fn ask(self, id: EnvironmentId, ask: &DeviceRequest) -> Result<Answer<Value>> {
        self.0.tell(Method::POST, &of(&id.to_string(), Some("requests")), &[], ask).await
    }
}

/// The route of an environment, or of something of it.
fn of<'a>(id: &'a str, what: Option<&'a str>) -> Vec<&'a str> {
    ENVIRONMENTS.into_iter().chain([id]).chain(what).collect()
}
