//! What can be said on the command line.

use std::{net::IpAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand};

/// Run coding agents in a sandbox, and drive them from anywhere.
#[derive(Debug, Parser)]
#[command(name = "tombolo", version, arg_required_else_help = true)]
pub(crate) struct Tombolo {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the agents, files and processes of this machine over HTTP.
    Daemon(DaemonOptions),
    /// Be the mock agent on the standard streams.
    #[command(hide = true)]
    MockAgent,
}

/// How the daemon runs.
#[derive(Debug, Args)]
pub(crate) struct DaemonOptions {
    /// The address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    /// The port to listen on; 0 for any that is free
    #[arg(long, default_value_t = 2468)]
    pub(crate) port: u16,
    /// The token that requests must carry (seen by everybody on this machine: prefer the variable or the file)
    #[arg(long, env = "TOMBOLO_TOKEN", hide_env_values = true, conflicts_with_all = ["no_token", "token_file"])]
    pub(crate) token: Option<String>,
    /// A file that holds the token
    #[arg(long, conflicts_with = "no_token")]
    pub(crate) token_file: Option<PathBuf>,
    /// Let everybody in who can reach the address
    #[arg(long)]
    pub(crate) no_token: bool,
    /// A configuration file: agents of your own
    #[arg(long)]
    pub(crate) config: Option<PathBuf>,
    /// Confine `/v1/fs` to this directory
    #[arg(long)]
    pub(crate) fs_root: Option<PathBuf>,
    /// Where the daemon keeps its own files
    #[arg(long)]
    pub(crate) data_dir: Option<PathBuf>,
    /// Never install an agent on first use
    #[arg(long)]
    pub(crate) no_install: bool,
    /// A name that `Host` may have, besides those of the loopback
    #[arg(long)]
    pub(crate) allow_host: Vec<String>,
    /// An origin whose pages may use the daemon, or `*`
    #[arg(long)]
    pub(crate) cors_allow_origin: Vec<String>,
    /// A method that such pages may use
    #[arg(long)]
    pub(crate) cors_allow_method: Vec<String>,
    /// A header that such pages may send
    #[arg(long)]
    pub(crate) cors_allow_header: Vec<String>,
    /// Whether such pages may send credentials
    #[arg(long)]
    pub(crate) cors_allow_credentials: bool,
    /// How many events of each instance can be replayed
    #[arg(long, default_value = "4096")]
    pub(crate) events_max: std::num::NonZeroU64,
    /// How many bytes of each instance can be replayed
    #[arg(long, default_value = "16777216")]
    pub(crate) events_bytes_max: std::num::NonZeroU64,
    /// How many milliseconds an agent has to end by itself
    #[arg(long, default_value_t = 2000)]
    pub(crate) grace_ms: u64,
    /// How many milliseconds a request may wait for an agent
    #[arg(long, default_value_t = 600_000)]
    pub(crate) timeout_max_ms: u64,
    /// How many milliseconds a connection may stall
    #[arg(long, default_value_t = 30_000)]
    pub(crate) stall_ms: u64,
    /// What to log: a level, or `target=level` pairs
    #[arg(long, env = "TOMBOLO_LOG", default_value = "warn")]
    pub(crate) log: String,
}
