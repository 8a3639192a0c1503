//! Health, metrics and OpenAPI document of a server.

use protocol::info::{HealthStatus, ServerInfo};
use reqwest::Method;
use serde_json::Value;

use crate::{ApiResponse, Client, Result};

/// Health, metrics and OpenAPI document of a server.
#[derive(Debug, Clone, Copy)]
pub struct InfoApi<'a>(pub(crate) &'a Client);

impl InfoApi<'_> {
    /// Describes the server.
    pub async fn about(self) -> Result<ApiResponse<ServerInfo>> {
        self.0.call(Method::GET, &[""], &[]).await
    }

    /// Checks that the server is running. Needs no token.
    pub async fn health(self) -> Result<ApiResponse<HealthStatus>> {
        self.0.call(Method::GET, &["v1", "health"], &[]).await
    }

    /// Reads the OpenAPI document of a daemon.
    pub async fn openapi(self) -> Result<ApiResponse<Value>> {
        self.0.call(Method::GET, &["v1", "openapi.json"], &[]).await
    }

    /// Reads the OpenAPI document of a hub.
    pub async fn hub_openapi(self) -> Result<ApiResponse<Value>> {
        self.0.call(Method::GET, &["api", "openapi.json"], &[]).await
    }

    /// Reads the metrics of a daemon or hub. The body is text, not JSON.
    pub async fn metrics(self) -> Result<ApiResponse<()>> {
        self.0.call(Method::GET, &["metrics"], &[]).await
    }
}
