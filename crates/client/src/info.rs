//! What a daemon says of itself.

use protocol::info::{HealthStatus, ServerInfo};
use reqwest::Method;
use serde_json::Value;

use crate::{Answer, Client, Result};

/// What a daemon says of itself.
#[derive(Debug, Clone, Copy)]
pub struct Info<'a>(pub(crate) &'a Client);

impl Info<'_> {
    /// What answers here.
    pub async fn about(self) -> Result<Answer<ServerInfo>> {
        self.0.ask(Method::GET, &[""], &[]).await
    }

    /// Whether it is well. Needs no token.
    pub async fn health(self) -> Result<Answer<HealthStatus>> {
        self.0.ask(Method::GET, &["v1", "health"], &[]).await
    }

    /// The description of the API.
    pub async fn openapi(self) -> Result<Answer<Value>> {
        self.0.ask(Method::GET, &["v1", "openapi.json"], &[]).await
    }

    /// What was counted, by a daemon or a hub, as OpenMetrics. Only the body is of use: it is no JSON.
    pub async fn metrics(self) -> Result<Answer<()>> {
        self.0.ask(Method::GET, &["metrics"], &[]).await
    }
}
