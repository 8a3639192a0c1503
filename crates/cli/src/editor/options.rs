//! Command line options of `tombolo acp`.

use std::time::Duration;

use clap::Args;
use protocol::{AgentName, ServerId};

use crate::{
    api::input::{self, EnvironmentVariable},
    duration::{self, VALUE_NAME},
    exit,
    server_args::{DaemonUrl, ServerArgs},
};

/// Run as an ACP agent on the standard streams, bridging to an agent in a sandbox
#[derive(Debug, Args)]
#[command(after_help = [
    "\
Pass the token with TOMBOLO_TOKEN or --token-file; a daemon of yours on this machine needs neither.
The network may fail at any time: no message is lost or duplicated in either direction. When the
editor leaves (end of input, closed output, SIGTERM, SIGINT or SIGHUP), the instance is deleted, so
that no agent keeps running in the sandbox; if this process is killed, the daemon deletes it after
--linger. An existing instance named by --server-id is left running.

Examples:
  tombolo acp --endpoint https://box.example --agent claude --token-file token
  tombolo acp --agent claude --directory /workspace --env ANTHROPIC_API_KEY
  tombolo acp --agent mock --server-id shared

",
    exit::EDITOR_CODES,
].concat())]
pub(crate) struct EditorOptions {
    /// The agent to run
    #[arg(long)]
    pub(super) agent: AgentName,
    /// Run the agent in this directory, an absolute path in the sandbox [default: the daemon's directory]
    #[arg(long, short, alias = "cwd", value_name = "DIRECTORY")]
    pub(super) directory: Option<String>,
    /// Add a variable to the agent's environment, by default with the value that it has here; may be repeated
    #[arg(long, value_name = input::VARIABLE)]
    pub(super) env: Vec<EnvironmentVariable>,
    /// Use this instance; an existing one is shared and left running [default: a new random id]
    #[arg(long, value_name = "ID")]
    pub(super) server_id: Option<ServerId>,
    /// Keep trying to reach the daemon for this long before giving up
    #[arg(long, value_name = VALUE_NAME, default_value = "5m", value_parser = duration::parse)]
    reconnect_timeout: Duration,
    /// Deprecated: use --reconnect-timeout, for example --reconnect-timeout 5m
    #[arg(long, value_name = "MS", hide = true)]
    patience_ms: Option<u64>,
    /// Tell the daemon to delete the instance after it has had no client for this long
    #[arg(long, value_name = VALUE_NAME, default_value = "10m", value_parser = duration::parse_positive)]
    linger: Duration,
    /// Deprecated: use --linger, for example --linger 10m
    #[arg(long, value_name = "MS", hide = true, value_parser = clap::value_parser!(u64).range(1..))]
    linger_ms: Option<u64>,
    #[command(flatten)]
    pub(super) server: ServerArgs<DaemonUrl>,
}

impl EditorOptions {
    /// How long to keep trying while the daemon cannot be reached.
    pub(super) fn reconnect_timeout(&self) -> Duration {
        self.patience_ms.map_or(self.reconnect_timeout, Duration::from_millis)
    }

    /// How long the daemon keeps an instance that has no client.
    pub(super) fn linger(&self) -> Duration {
        self.linger_ms.map_or(self.linger, Duration::from_millis)
    }
}
