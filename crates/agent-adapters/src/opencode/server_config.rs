//! The configuration with which the server is started: MCP servers, skills, and its permissions.
//!
//! The server gets it in its environment, where it overrides all files of the user and the project. Sessions that need
//! the same share a server. One with other MCP servers gets a server of its own, because all sessions of a server share them.

use std::{borrow::Cow, collections::BTreeMap, ffi::OsString};

use protocol::config::{McpOauth, McpServer, McpServerCommand};
use serde::Serialize;
use serde_json::{Value, json};

use crate::Options;

/// The content of `OPENCODE_CONFIG_CONTENT`.
#[derive(Serialize)]
struct OpencodeServerConfig<'a> {
    permission: Value,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    mcp: BTreeMap<&'a str, McpEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skills: Option<SkillPaths<'a>>,
}

#[derive(Serialize)]
struct SkillPaths<'a> {
    paths: Vec<Cow<'a, str>>,
}

/// An MCP server in the configuration.
#[derive(Serialize)]
struct McpEntry<'a> {
    #[serde(flatten)]
    connection: McpEntryConnection<'a>,
    enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<u64>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum McpEntryConnection<'a> {
    Local {
        command: Vec<&'a str>,
        environment: &'a BTreeMap<String, String>,
    },
    /// The server finds out the transport by itself.
    Remote {
        url: &'a str,
        headers: &'a BTreeMap<String, String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        oauth: Option<Value>,
    },
}

/// The variables of the server.
pub(super) fn env(options: &Options) -> BTreeMap<String, OsString> {
    let fixed = [
        ("OPENCODE_DISABLE_AUTOUPDATE", "1".into()),
        // Without it the agent cannot request the approval of a plan.
        ("OPENCODE_EXPERIMENTAL_PLAN_MODE", "1".into()),
        ("OPENCODE_CONFIG_CONTENT", json!(OpencodeServerConfig::new(options)).to_string().into()),
    ];
    fixed.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

impl<'a> OpencodeServerConfig<'a> {
    fn new(options: &'a Options) -> Self {
        let skills: Vec<_> = options.skills.values().map(|path| path.to_string_lossy()).collect();
        Self {
            // The rules of a session do not reach the sessions of its subagents; these do.
            permission: json!({ "bash": "ask", "edit": "ask", "webfetch": "ask" }),
            mcp: options.mcp.iter().map(|(name, server)| (name.as_str(), McpEntry::new(server))).collect(),
            skills: (!skills.is_empty()).then_some(SkillPaths { paths: skills }),
        }
    }
}

impl<'a> McpEntry<'a> {
    fn new(server: &'a McpServer) -> Self {
        let (connection, enabled, timeout_ms) = match server {
            McpServer::Local { command, args, env, enabled, timeout_ms } => {
                let words = match command {
                    McpServerCommand::Program(program) => std::slice::from_ref(program),
                    McpServerCommand::Line(words) => words,
                };
                let command = words.iter().chain(args).map(String::as_str).collect();
                (McpEntryConnection::Local { command, environment: env }, enabled, timeout_ms)
            }
            McpServer::Remote { url, headers, oauth, enabled, timeout_ms, transport: _ } => {
                let oauth = match oauth {
                    // The server does what the MCP server announces unless the configuration differs.
                    None | Some(McpOauth::Enabled(true)) => None,
                    Some(McpOauth::Enabled(false)) => Some(json!(false)),
                    Some(McpOauth::Client(client)) => Some(json!(client)),
                };
                (McpEntryConnection::Remote { url, headers, oauth }, enabled, timeout_ms)
            }
        };
        Self { connection, enabled: enabled.unwrap_or(true), timeout: *timeout_ms }
    }
}
