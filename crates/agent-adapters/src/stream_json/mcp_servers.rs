//! MCP servers in the form that most agents read.

use std::collections::{BTreeMap, BTreeSet};

use protocol::config::{McpServer, McpServerCommand, McpTransport};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{Out, mcp_unavailable};

/// The state of an MCP server in the agent's first line.
#[derive(Deserialize)]
pub(crate) struct McpServerStatus {
    name: String,
    status: String,
}

/// The enabled servers, by name.
pub(crate) fn enabled_servers(mcp: &BTreeMap<String, McpServer>) -> Map<String, Value> {
    mcp.iter().filter_map(|(name, server)| Some((name.clone(), entry(server)?))).collect()
}

/// Removes the servers that have settled from `awaited`, and warns of those that did not start.
pub(crate) fn warn_of_failed(awaited: &mut BTreeSet<String>, servers: &[McpServerStatus], out: &mut Out) {
    for McpServerStatus { name, status } in servers {
        let is_settled = status != "pending" && awaited.remove(name);
        if is_settled && status != "connected" {
            out.facts.push(mcp_unavailable(name, format!("its status is `{status}`")));
        }
    }
}

fn entry(server: &McpServer) -> Option<Value> {
    match server {
        McpServer::Local { enabled: Some(false), .. } | McpServer::Remote { enabled: Some(false), .. } => {
            None
        }
        McpServer::Local { command, args, env, timeout_ms, .. } => {
            let (program, first) = match command {
                McpServerCommand::Program(program) => (program.as_str(), &[][..]),
                McpServerCommand::Line(words) => {
                    words.split_first().map(|(program, rest)| (program.as_str(), rest))?
                }
            };
            let args: Vec<_> = first.iter().chain(args).collect();
            let entry = json!({ "command": program, "args": args, "env": env });
            Some(with_timeout(entry, *timeout_ms))
        }
        McpServer::Remote { url, transport, headers, timeout_ms, .. } => {
            let transport = if *transport == Some(McpTransport::Sse) { "sse" } else { "http" };
            Some(with_timeout(json!({ "type": transport, "url": url, "headers": headers }), *timeout_ms))
        }
    }
}

fn with_timeout(mut entry: Value, timeout_ms: Option<u64>) -> Value {
    if let Some(timeout) = timeout_ms {
        entry["timeout"] = timeout.into();
    }
    entry
}
