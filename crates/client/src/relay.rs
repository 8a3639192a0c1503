//! `/api/v1/relay`: connects devices to a hub, and gives sessions access to them.

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

use crate::{ApiResponse, Client, ClientWebSocket, Result, websocket_handshake};

/// The route of environments.
const ENVIRONMENTS: [&str; 4] = ["api", "v1", "relay", "environments"];

impl Client {
    /// Connects a device to the hub. The token determines the device.
    pub async fn relay_connect(&self, config: WebSocketConfig) -> Result<ClientWebSocket> {
        let request = self.request(Method::GET, &["api", "v1", "relay", "connect"]);
        websocket_handshake::open_with(request, Some(config)).await
    }
}

/// The state and the audit log of the relay.
#[derive(Debug, Clone, Copy)]
pub struct RelayApi<'a>(pub(crate) &'a Client);

impl RelayApi<'_> {
    /// Reads the state of the relay.
    pub async fn status(self) -> Result<ApiResponse<RelayStatus>> {
        self.0.call(Method::GET, &["api", "v1", "relay", "status"], &[]).await
    }

    /// Reads the entries of the relay's audit after the one with the sequence number `after`.
    pub async fn audit(self, after: u64, limit: Option<u32>) -> Result<ApiResponse<RelayAuditPage>> {
        let cursor = after.to_string();
        let limit = limit.map(|limit| limit.to_string());
        let query = [("cursor", Some(cursor.as_str())), ("limit", limit.as_deref())];
        self.0.call(Method::GET, &["api", "v1", "relay", "audit"], &query).await
    }

    /// Revokes a remembered approval.
    pub async fn forget(self, id: WaitId) -> Result<ApiResponse<()>> {
        self.0.call(Method::DELETE, &["api", "v1", "relay", "approvals", &id.to_string()], &[]).await
    }

    /// Enables or disables the relay in a workspace.
    pub async fn set_enabled(
        self,
        workspace: &WorkspaceName,
        enabled: bool,
    ) -> Result<ApiResponse<WorkspaceRelaySettings>> {
        let segments = ["api", "workspaces", workspace.as_str(), "relay"];
        self.0.call_with_body(Method::PUT, &segments, &[], &SetWorkspaceRelayRequest { enabled }).await
    }
}

/// The access of sessions to devices.
#[derive(Debug, Clone, Copy)]
pub struct EnvironmentsApi<'a>(pub(crate) &'a Client);

impl EnvironmentsApi<'_> {
    /// Lists all environments.
    pub async fn list(self) -> Result<ApiResponse<EnvironmentList>> {
        self.0.call(Method::GET, &ENVIRONMENTS, &[]).await
    }

    /// Creates an environment: a runtime's access to a device.
    pub async fn add(self, add: &CreateEnvironmentRequest) -> Result<ApiResponse<EnvironmentCreated>> {
        self.0.call_with_body(Method::POST, &ENVIRONMENTS, &[], add).await
    }

    /// Reads one environment.
    pub async fn get(self, id: EnvironmentId) -> Result<ApiResponse<Environment>> {
        self.0.call(Method::GET, &environment_route(&id.to_string(), None), &[]).await
    }

    /// Removes an environment.
    pub async fn remove(self, id: EnvironmentId) -> Result<ApiResponse<()>> {
        self.0.call(Method::DELETE, &environment_route(&id.to_string(), None), &[]).await
    }

    /// Connects to a device over a WebSocket. The token of this client must be the secret of the environment.
    pub async fn connect(self, id: EnvironmentId, config: WebSocketConfig) -> Result<ClientWebSocket> {
        let request = self.0.request(Method::GET, &environment_route(&id.to_string(), Some("connect")));
        websocket_handshake::open_with(request, Some(config)).await
    }

    /// Sends one request to a device. The token of this client must be the secret of the environment.
    pub async fn send_request(self, id: EnvironmentId, ask: &DeviceRequest) -> Result<ApiResponse<Value>> {
        self.0
            .call_with_body(Method::POST, &environment_route(&id.to_string(), Some("requests")), &[], ask)
            .await
    }
}

/// The route of an environment, or of one of its resources.
fn environment_route<'a>(id: &'a str, resource: Option<&'a str>) -> Vec<&'a str> {
    ENVIRONMENTS.into_iter().chain([id]).chain(resource).collect()
}
