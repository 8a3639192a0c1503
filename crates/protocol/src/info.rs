//! What a daemon says of itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `GET /`: what answers here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerInfo {
    /// Always `tombolo`.
    pub name: String,
    /// What this server is, in one sentence.
    pub description: String,
    /// Where the API is described.
    pub openapi: String,
    /// Where to ask whether it is well.
    pub health: String,
}

/// `GET /v1/health`: open to everybody and free of detail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HealthStatus {
    /// `ok` while the daemon serves.
    pub status: String,
}
