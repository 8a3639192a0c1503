//! What can be said to the daemon.

use std::{net::IpAddr, num::NonZeroU64, path::PathBuf};

use clap::{Args, Parser};

use crate::{agents::InstallOptions, secret::Secret};

/// How the daemon runs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tombolo daemon                                           this machine only, no token
  TOMBOLO_TOKEN=… tombolo daemon --host 0.0.0.0            for others too, who need the token
  tombolo daemon --config agents.toml --fs-root /workspace

agents.toml:
  [agents.mine]
  command = [\"my-agent\", \"--acp\"]
  env = { KEY = \"value\" }

It prints `listening on http://…` once it serves. SIGTERM and SIGINT end it and every agent.")]
pub(crate) struct DaemonOptions {
    /// The address to listen on
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    pub(crate) host: IpAddr,
    /// The port to listen on; 0 for any that is free
    #[arg(long, default_value_t = 2468)]
    pub(crate) port: u16,
    /// The token that requests must carry; seen by everybody on this machine: prefer the variable
    /// or the file [env: TOMBOLO_TOKEN]
    #[arg(long, conflicts_with_all = ["no_token", "token_file"])]
    pub(crate) token: Option<Secret>,
    /// A file that holds the token
    #[arg(long, conflicts_with = "no_token", value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Let everybody in who can reach the address
    #[arg(long)]
    pub(crate) no_token: bool,
    /// A configuration file: agents of your own
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Confine `/v1/fs` to this directory
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) fs_root: Option<PathBuf>,
    /// Where the daemon keeps its own files
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Never install an agent on first use
    #[arg(long)]
    pub(crate) no_install: bool,
    #[command(flatten)]
    pub(crate) install: InstallOptions,
    /// A name that `Host` may have, besides those of the loopback; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) allow_host: Vec<String>,
    /// An origin whose pages may use the daemon, or `*`; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) cors_allow_origin: Vec<String>,
    /// A method that such pages may use; may be repeated
    #[arg(long, value_name = "METHOD")]
    pub(crate) cors_allow_method: Vec<String>,
    /// A header that such pages may send; may be repeated
    #[arg(long, value_name = "HEADER")]
    pub(crate) cors_allow_header: Vec<String>,
    /// Whether such pages may send credentials
    #[arg(long)]
    pub(crate) cors_allow_credentials: bool,
    /// How many events of each instance can be replayed
    #[arg(long, default_value = "4096", value_name = "EVENTS")]
    pub(crate) events_max: NonZeroU64,
    /// How many bytes of each instance can be replayed
    #[arg(long, default_value = "16777216", value_name = "BYTES")]
    pub(crate) events_bytes_max: NonZeroU64,
    /// How many milliseconds an agent has to end by itself
    #[arg(long, default_value_t = 2000, value_name = "MS")]
    pub(crate) grace_ms: u64,
    /// How many milliseconds a request may wait for an agent
    #[arg(long, default_value_t = 600_000, value_name = "MS")]
    pub(crate) timeout_max_ms: u64,
    /// How many milliseconds a connection may stall
    #[arg(long, default_value_t = 30_000, value_name = "MS")]
    pub(crate) stall_ms: u64,
    /// What to log: a level, or `target=level` pairs
    #[arg(long, env = "TOMBOLO_LOG", hide_env_values = true, default_value = "warn", value_name = "FILTER")]
    pub(crate) log: String,
}

/// The daemon's options by themselves.
#[derive(Debug, Parser)]
struct Alone {
    #[command(flatten)]
    options: DaemonOptions,
}

impl DaemonOptions {
    /// What holds if nothing is said.
    pub(crate) fn unsaid() -> Self {
        Alone::parse_from(["tombolo"]).options
    }
}
