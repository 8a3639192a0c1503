//! What can be said to the daemon.

use std::{net::IpAddr, num::NonZeroU64, path::PathBuf, time::Duration};

use clap::{Args, Parser};
use protocol::RuntimeId;

use crate::{agents::InstallOptions, secret::Secret, traces::TraceOptions};

/// How the daemon runs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tombolo daemon                                           this machine only, no token
  TOMBOLO_TOKEN=… tombolo daemon --host 0.0.0.0            for others too, who need the token
  tombolo daemon --config agents.toml --fs-root /workspace
  tombolo daemon --join https://hub.example --join-token-file T   asked by the hub that it calls

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
    /// How long a person may take to answer what an agent asks, such as 90s, 30m or 24h; 0 for ever
    #[arg(long, default_value = "24h", value_name = "DURATION", value_parser = duration)]
    pub(crate) wait_timeout: Duration,
    /// How long the agent of a session stays that has nothing to do; the next message starts it again
    #[arg(long, default_value = "30m", value_name = "DURATION", value_parser = duration)]
    pub(crate) session_idle: Duration,
    /// How many milliseconds a connection may stall
    #[arg(long, default_value_t = 30_000, value_name = "MS")]
    pub(crate) stall_ms: u64,
    /// Join this hub: the daemon calls it, so that nobody has to reach the daemon. A hub with a CA of
    /// its own is trusted if the system trusts that CA, or it is in the file that the variable SSL_CERT_FILE
    /// names; only what is there is trusted then
    #[arg(long, value_name = "URL")]
    pub(crate) join: Option<String>,
    /// A file that holds what `tombolo hub runtimes invite` printed [default: the variable TOMBOLO_JOIN_TOKEN]
    #[arg(long, requires = "join", value_name = "FILE")]
    pub(crate) join_token_file: Option<PathBuf>,
    /// The runtime that the daemon means to be; refused if the token is for another
    #[arg(long, requires = "join", value_name = "NAME")]
    pub(crate) join_as: Option<RuntimeId>,
    /// What to log: a level, or `target=level` pairs
    #[arg(long, env = "TOMBOLO_LOG", hide_env_values = true, default_value = "warn", value_name = "FILTER")]
    pub(crate) log: String,
    #[command(flatten)]
    pub(crate) traces: TraceOptions,
}

/// A number with `ms`, `s`, `m`, `h` or `d`; seconds without.
fn duration(text: &str) -> Result<Duration, &'static str> {
    const UNITS: [(&str, u64); 6] =
        [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("", 1000)];
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let unit = UNITS.iter().find(|(name, _)| *name == unit.trim());
    let ms = unit.and_then(|(_, ms)| number.parse::<u64>().ok()?.checked_mul(*ms));
    ms.map(Duration::from_millis).ok_or("it must be a number and a unit, such as 90s, 30m or 24h")
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
