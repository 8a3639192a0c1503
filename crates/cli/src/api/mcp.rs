//! `tombolo api mcp`.

use clap::Subcommand;
use client::Client;
use protocol::config::{McpServer, McpServerCommand, McpServerList, McpTransport};

use super::{input, operations::mirrors};
use crate::{
    exit::CommandResult,
    output::{CommandOutput, card, or_dash, table, yes_no},
    server_args::RequestCommand,
};

#[derive(Debug, Subcommand)]
pub(crate) enum McpServersCommand {
    /// List the MCP servers that are configured for a directory
    #[command(after_help = "Examples:\n  tombolo api mcp list --directory /workspace")]
    List {
        /// The directory, an absolute path in the sandbox
        #[arg(long, short)]
        directory: String,
    },
    /// Show one MCP server; the values of variables and headers are printed with --json only
    #[command(after_help = "Examples:\n  tombolo api mcp get --directory /workspace search --json")]
    Get {
        /// The name of the server
        name: String,
        /// The directory, an absolute path in the sandbox
        #[arg(long, short)]
        directory: String,
    },
    /// Add an MCP server, or replace the one with the same name
    #[command(after_help = "\
Examples:
  tombolo api mcp set -d /workspace files '{\"type\":\"local\",\"command\":[\"mcp-files\",\"/workspace\"]}'
  tombolo api mcp set -d /workspace search - < search.json

The JSON of a local and of a remote server:
  {\"type\":\"local\",\"command\":…,\"args\":[…],\"env\":{…},\"enabled\":true,\"timeoutMs\":5000}
  {\"type\":\"remote\",\"url\":…,\"transport\":\"http\"|\"sse\",\"headers\":{…},\"oauth\":…}")]
    Set {
        /// The name of the server
        name: String,
        /// The server as JSON; `-` or nothing reads standard input
        entry: Option<String>,
        /// The directory, an absolute path in the sandbox
        #[arg(long, short)]
        directory: String,
    },
    /// Delete an MCP server
    #[command(after_help = "Examples:\n  tombolo api mcp delete --directory /workspace search")]
    Delete {
        /// The name of the server; deleting one that does not exist succeeds
        name: String,
        /// The directory, an absolute path in the sandbox
        #[arg(long, short)]
        directory: String,
    },
}

mirrors! { McpServersCommand:
    List = "list" GET "/v1/config/mcp";
    Get = "get" GET "/v1/config/mcp";
    Set = "set" PUT "/v1/config/mcp";
    Delete = "delete" DELETE "/v1/config/mcp";
}

impl RequestCommand for McpServersCommand {
    fn describe(&self) -> String {
        self.operation().to_string()
    }

    async fn run(self, client: &Client, output: CommandOutput) -> CommandResult {
        let mcp = client.mcp();
        match self {
            McpServersCommand::List { directory } => output.answer(&mcp.list(&directory).await?, list),
            McpServersCommand::Get { name, directory } => {
                output.answer(&mcp.get(&directory, &name).await?, server)
            }
            McpServersCommand::Set { name, entry, directory } => {
                mcp.set_json(&directory, &name, &input::json(entry, output).await?).await?;
                output.done(&format!("stored MCP server {name}"))
            }
            McpServersCommand::Delete { name, directory } => {
                mcp.delete(&directory, &name).await?;
                output.done(&format!("deleted MCP server {name}"))
            }
        }
    }
}

fn list(list: McpServerList) -> String {
    let rows = list.items.into_iter().map(|(name, server)| match server {
        McpServer::Local { command, args, enabled, .. } => {
            [name, "local".into(), yes_no(enabled.unwrap_or(true)), line(command, args)]
        }
        McpServer::Remote { url, enabled, .. } => {
            [name, "remote".into(), yes_no(enabled.unwrap_or(true)), url]
        }
    });
    table(["NAME", "TYPE", "ENABLED", "TARGET"], rows)
}

/// Shows the names of variables and headers but not their values, which often are secrets.
fn server(server: McpServer) -> String {
    match server {
        McpServer::Local { command, args, env, enabled, timeout_ms } => card([
            ("type", "local".into()),
            ("command", line(command, args)),
            ("env", names(env.into_keys())),
            ("enabled", yes_no(enabled.unwrap_or(true))),
            ("timeout ms", or_dash(timeout_ms)),
        ]),
        McpServer::Remote { url, transport, headers, oauth, enabled, timeout_ms } => card([
            ("type", "remote".into()),
            ("url", url),
            ("transport", if transport == Some(McpTransport::Sse) { "sse".into() } else { "http".into() }),
            ("headers", names(headers.into_keys())),
            ("oauth", yes_no(oauth.is_some())),
            ("enabled", yes_no(enabled.unwrap_or(true))),
            ("timeout ms", or_dash(timeout_ms)),
        ]),
    }
}

fn line(command: McpServerCommand, args: Vec<String>) -> String {
    let mut words = match command {
        McpServerCommand::Program(program) => vec![program],
        McpServerCommand::Line(words) => words,
    };
    words.extend(args);
    words.join(" ")
}

fn names(names: impl Iterator<Item = String>) -> String {
    let names: Vec<_> = names.collect();
    or_dash((!names.is_empty()).then(|| names.join(", ")))
}
