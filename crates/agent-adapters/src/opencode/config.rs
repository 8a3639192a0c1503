//! What the server is started with: MCP servers, skills, and that it asks.
//!
//! It is handed over in the environment, where it goes over all files of the user and the project. Sessions that need
//! the same share a server; one with other MCP servers gets a server of its own, for all sessions of a server share them.

use std::{collections::BTreeMap, ffi::OsString};

use protocol::config::{McpOauth, McpServer, McpServerCommand};
use serde_json::{Map, Value, json};

use super::super::Options;

/// The variables of the server.
pub(super) fn env(options: &Options) -> BTreeMap<String, OsString> {
    let fixed = [
        ("OPENCODE_DISABLE_AUTOUPDATE", "1".into()),
        // Without it there is no way to have a plan approved.
        ("OPENCODE_EXPERIMENTAL_PLAN_MODE", "1".into()),
        ("OPENCODE_CONFIG_CONTENT", content(options).to_string().into()),
    ];
    fixed.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn content(options: &Options) -> Value {
    // The rules of a session do not reach the sessions of its subagents; these do.
    let mut content = json!({ "permission": { "bash": "ask", "edit": "ask", "webfetch": "ask" } });
    if !options.mcp.is_empty() {
        let servers: Map<_, _> =
            options.mcp.iter().map(|(name, server)| (name.clone(), mcp(server))).collect();
        content["mcp"] = servers.into();
    }
    if !options.skills.is_empty() {
        let paths: Vec<_> = options.skills.values().map(|path| path.to_string_lossy()).collect();
        content["skills"] = json!({ "paths": paths });
    }
    content
}

/// An MCP server in OpenCode's words. How a remote one streams it finds out by itself.
fn mcp(server: &McpServer) -> Value {
    let (mut said, enabled, timeout) = match server {
        McpServer::Local { command, args, env, enabled, timeout_ms } => {
            let mut line = match command {
                McpServerCommand::Program(program) => vec![program.clone()],
                McpServerCommand::Line(words) => words.clone(),
            };
            line.extend(args.iter().cloned());
            (json!({ "type": "local", "command": line, "environment": env }), enabled, timeout_ms)
        }
        McpServer::Remote { url, headers, oauth, enabled, timeout_ms, transport: _ } => {
            let mut said = json!({ "type": "remote", "url": url, "headers": headers });
            match oauth {
                // What the server itself says is what happens anyway.
                None | Some(McpOauth::Enabled(true)) => {}
                Some(McpOauth::Enabled(false)) => said["oauth"] = false.into(),
                Some(McpOauth::Client(client)) => said["oauth"] = json!(client),
            }
            (said, enabled, timeout_ms)
        }
    };
    said["enabled"] = enabled.unwrap_or(true).into();
    if let Some(timeout) = timeout {
        said["timeout"] = (*timeout).into();
    }
    said
}
