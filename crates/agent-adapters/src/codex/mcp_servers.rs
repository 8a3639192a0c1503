//! MCP servers as entries of `mcp_servers` in Codex's configuration.

use std::collections::BTreeMap;

use protocol::{
    config::{McpOauth, McpServer, McpServerCommand, McpTransport},
    sessions::AgentError,
};
use serde::Serialize;

use crate::unsupported;

/// An entry of `mcp_servers`.
#[derive(Debug, Serialize)]
pub(super) struct CodexMcpServer {
    #[serde(flatten)]
    connection: CodexMcpConnection,
    /// Sent in any case: a server that the user has disabled under the same name would never report that it has started.
    pub(super) enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_timeout_sec: Option<f64>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum CodexMcpConnection {
    Local { command: String, args: Vec<String>, env: BTreeMap<String, String> },
    Remote { url: String, http_headers: BTreeMap<String, String> },
}

impl CodexMcpServer {
    /// Rejects a server that Codex cannot use.
    pub(super) fn new(name: &str, server: &McpServer) -> Result<Self, AgentError> {
        let reject = |problem: &str| Err(unsupported("mcp", format!("MCP server `{name}` {problem}")));
        let (connection, enabled, timeout_ms) = match server {
            McpServer::Local { command, args, env, enabled, timeout_ms } => {
                let (command, first) = match command {
                    McpServerCommand::Program(program) => (program.as_str(), &[][..]),
                    McpServerCommand::Line(words) => match words.split_first() {
                        Some((program, first)) => (program.as_str(), first),
                        None => return reject("has no command"),
                    },
                };
                let args = first.iter().chain(args).cloned().collect();
                let (command, env) = (command.to_owned(), env.clone());
                (CodexMcpConnection::Local { command, args, env }, enabled, timeout_ms)
            }
            McpServer::Remote { transport: Some(McpTransport::Sse), .. } => {
                return reject("uses SSE, which Codex does not support");
            }
            McpServer::Remote { oauth: Some(McpOauth::Client(_)), .. } => {
                return reject("names an OAuth client, which Codex does not support");
            }
            McpServer::Remote { url, headers, enabled, timeout_ms, .. } => {
                let (url, http_headers) = (url.clone(), headers.clone());
                (CodexMcpConnection::Remote { url, http_headers }, enabled, timeout_ms)
            }
        };
        Ok(Self {
            connection,
            enabled: enabled.unwrap_or(true),
            tool_timeout_sec: timeout_ms.map(|timeout_ms| timeout_ms as f64 / 1000.0),
        })
    }
}
