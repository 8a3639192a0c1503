//! Wire types of the routes that describe a server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The response of `GET /`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerInfo {
    /// Always `tombolo`.
    pub name: String,
    /// The purpose of this server in one sentence.
    pub description: String,
    /// The path of the OpenAPI document.
    pub openapi: String,
    /// The path of the health check.
    pub health: String,
}

/// The response of `GET /v1/health`, which needs no token and so contains no details.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthStatus {
    /// `ok` while the daemon accepts requests.
    pub status: String,
}

crate::schema::wire_types! {
    sent: ServerInfo, HealthStatus;
}
