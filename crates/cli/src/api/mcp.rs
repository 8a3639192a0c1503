//! `tombolo api mcp`.

use clap::Subcommand;
use client::Client;
use protocol::config::{Command, McpServer, McpServerList, Transport};

use super::{
    input,
    operations::{Operation, mirrors},
};
use crate::{
    exit::Outcome,
    output::{Output, card, or_dash, table, yes_no},
};

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the MCP servers of a directory
    #[command(after_help = "Examples:\n  tombolo api mcp list --directory /workspace")]
    List {
        /// The directory that they belong to, as an absolute path in the sandbox
        #[arg(long, short)]
        directory: String,
    },
    /// Show one MCP server; values of variables and headers only with --json
    #[command(after_help = "Examples:\n  tombolo api mcp get --directory /workspace search --json")]
    Get {
        /// Its name
        name: String,
        /// The directory that it belongs to, as an absolute path in the sandbox
        #[arg(long, short)]
        directory: String,
    },
    /// Store one MCP server, in place of what has its name
    #[command(after_help = "\
Examples:
  tombolo api mcp set -d /workspace files '{\"type\":\"local\",\"command\":[\"mcp-files\",\"/workspace\"]}'
  tombolo api mcp set -d /workspace search - < search.json

A server is local or remote:
  {\"type\":\"local\",\"command\":…,\"args\":[…],\"env\":{…},\"enabled\":true,\"timeoutMs\":5000}
  {\"type\":\"remote\",\"url\":…,\"transport\":\"http\"|\"sse\",\"headers\":{…},\"oauth\":…}")]
    Set {
        /// Its name
        name: String,
        /// The server as JSON; `-` or nothing for standard input
        entry: Option<String>,
        /// The directory that it belongs to, as an absolute path in the sandbox
        #[arg(long, short)]
        directory: String,
    },
    /// Forget one MCP server
    #[command(after_help = "Examples:\n  tombolo api mcp delete --directory /workspace search")]
    Delete {
        /// Its name; it need not be there
        name: String,
        /// The directory that it belongs to, as an absolute path in the sandbox
        #[arg(long, short)]
        directory: String,
    },
}

mirrors! { Verb:
    List = "list" GET "/v1/config/mcp";
    Get = "get" GET "/v1/config/mcp";
    Set = "set" PUT "/v1/config/mcp";
    Delete = "delete" DELETE "/v1/config/mcp";
}

impl super::Verb for Verb {
    fn operation(&self) -> &'static Operation {
        self.mirrored()
    }

    async fn run(self, client: &Client, output: Output) -> Outcome {
        let mcp = client.mcp();
        match self {
            Verb::List { directory } => output.answer(&mcp.list(&directory).await?, list),
            Verb::Get { name, directory } => output.answer(&mcp.get(&directory, &name).await?, server),
            Verb::Set { name, entry, directory } => {
                mcp.set_json(&directory, &name, &input::json(entry, output).await?).await?;
                output.done(&format!("MCP server {name} is stored"))
            }
            Verb::Delete { name, directory } => {
                mcp.delete(&directory, &name).await?;
                output.done(&format!("MCP server {name} is gone"))
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

/// Variables and headers often hold secrets: people are shown their names only.
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
            ("transport", if transport == Some(Transport::Sse) { "sse".into() } else { "http".into() }),
            ("headers", names(headers.into_keys())),
            ("oauth", yes_no(oauth.is_some())),
            ("enabled", yes_no(enabled.unwrap_or(true))),
            ("timeout ms", or_dash(timeout_ms)),
        ]),
    }
}

fn line(command: Command, args: Vec<String>) -> String {
    let mut words = match command {
        Command::Program(program) => vec![program],
        Command::Line(words) => words,
    };
    words.extend(args);
    words.join(" ")
}

fn names(names: impl Iterator<Item = String>) -> String {
    let names: Vec<_> = names.collect();
    or_dash((!names.is_empty()).then(|| names.join(", ")))
}
