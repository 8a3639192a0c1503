//! The agent's answer to `initialize`.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::lenient;

/// The answer to `initialize`.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct AcpInitializeResult {
    #[serde(deserialize_with = "lenient::field")]
    pub(super) agent_capabilities: AcpCapabilities,
    #[serde(deserialize_with = "lenient::field")]
    pub(super) agent_info: AcpAgentInfo,
    #[serde(rename = "_meta", deserialize_with = "lenient::field")]
    meta: InitializeMeta,
}

/// The parts of the protocol that the agent supports.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct AcpCapabilities {
    pub(super) load_session: bool,
    #[serde(deserialize_with = "lenient::field")]
    pub(super) mcp_capabilities: McpTransports,
    #[serde(deserialize_with = "lenient::field")]
    session_capabilities: AcpSessionCapabilities,
}

/// The transports besides stdio over which the agent reaches MCP servers.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct McpTransports {
    pub(super) http: bool,
    pub(super) sse: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AcpSessionCapabilities {
    resume: Option<Map<String, Value>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct AcpAgentInfo {
    pub(super) version: Option<String>,
}

/// Extensions of the protocol.
#[derive(Default, Deserialize)]
#[serde(default)]
struct InitializeMeta {
    #[serde(deserialize_with = "lenient::field")]
    steering: SteeringExtension,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SteeringExtension {
    supported: bool,
}

impl AcpInitializeResult {
    /// Whether the agent has the method `_session/steering`.
    pub(super) fn supports_steering(&self) -> bool {
        self.meta.steering.supported
    }
}

impl AcpCapabilities {
    /// Whether the agent has the method `session/resume`, which replays nothing.
    pub(super) fn supports_resume(&self) -> bool {
        self.session_capabilities.resume.is_some()
    }
}

impl McpTransports {
    /// Whether the agent supports the transport `http` or `sse`.
    pub(super) fn supports(&self, transport: &str) -> bool {
        match transport {
            "http" => self.http,
            "sse" => self.sse,
            _ => false,
        }
    }
}
