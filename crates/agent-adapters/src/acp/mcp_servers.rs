//! MCP servers in the form of the protocol.

use std::collections::BTreeMap;

use protocol::config::{McpServer, McpServerCommand, McpTransport};
use serde_json::{Value, json};

use super::initialize::McpTransports;

/// The names of the MCP servers that the agent cannot reach, with the transport that it lacks.
pub(super) fn unreachable<'a>(
    servers: &'a BTreeMap<String, McpServer>,
    supported: &McpTransports,
) -> Vec<(&'a str, &'static str)> {
    let needed = servers.iter().filter_map(|(name, server)| Some((name.as_str(), transport(server)?)));
    needed.filter(|(_, transport)| !supported.supports(transport)).collect()
}

/// The MCP servers that the agent can reach.
pub(super) fn reachable(servers: &BTreeMap<String, McpServer>, supported: &McpTransports) -> Vec<Value> {
    let reachable = |server: &McpServer| transport(server).is_none_or(|kind| supported.supports(kind));
    let servers = servers.iter().filter(|(_, server)| reachable(server));
    servers.filter_map(|(name, server)| acp_server(name, server)).collect()
}

/// The transport that an enabled remote server needs.
fn transport(server: &McpServer) -> Option<&'static str> {
    match server {
        McpServer::Remote { enabled: Some(false), .. } | McpServer::Local { .. } => None,
        McpServer::Remote { transport: Some(McpTransport::Sse), .. } => Some("sse"),
        McpServer::Remote { .. } => Some("http"),
    }
}

/// An enabled server in the form of the protocol.
fn acp_server(name: &str, server: &McpServer) -> Option<Value> {
    let pairs = |pairs: &BTreeMap<String, String>| -> Vec<Value> {
        pairs.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
    };
    match server {
        McpServer::Local { enabled: Some(false), .. } => None,
        McpServer::Local { command, args, env, .. } => {
            let (program, first) = match command {
                McpServerCommand::Program(program) => (program, &[][..]),
                McpServerCommand::Line(line) => line.split_first()?,
            };
            let args: Vec<_> = first.iter().chain(args).collect();
            Some(json!({ "name": name, "command": program, "args": args, "env": pairs(env) }))
        }
        McpServer::Remote { url, headers, .. } => {
            let kind = transport(server)?;
            Some(json!({ "type": kind, "name": name, "url": url, "headers": pairs(headers) }))
        }
    }
}
