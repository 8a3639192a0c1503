//! The options of `tombolo daemon`.

use std::{net::IpAddr, path::PathBuf};

use clap::{Args, Parser};
use daemon::{DEFAULT_PORT, DaemonSettings};
use protocol::RuntimeId;

use crate::{agents::InstallOptions, secret::SecretString, traces::TraceOptions};

/// The options of `tombolo daemon`. The ones that need no resolving are declared by the daemon itself.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tombolo daemon                                       serve your user on this machine
  TOMBOLO_TOKEN=… tombolo daemon --host 0.0.0.0        serve other machines too, with a token
  tombolo daemon --config agents.toml --fs-root /workspace
  tombolo daemon --join https://hub.example --join-token-file T    be reachable through a hub

agents.toml:
  [agents.mine]
  command = [\"my-agent\", \"--acp\"]
  env = { KEY = \"value\" }

Without a token, the daemon generates one and stores it in `daemon-token` in its data directory,
where commands of the same user find it.

The daemon prints `listening on http://…` once it accepts requests. SIGTERM or SIGINT stops it and
all agents.")]
pub(crate) struct DaemonOptions {
    /// Listen on this address
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    pub(crate) host: IpAddr,
    /// Listen on this port; 0 for any free port
    #[arg(long, default_value_t = DEFAULT_PORT)]
    pub(crate) port: u16,
    /// Require this token from clients. Other users of this machine can see it: prefer TOMBOLO_TOKEN
    /// or --token-file [env: TOMBOLO_TOKEN]
    #[arg(long, conflicts_with_all = ["no_token", "token_file"])]
    pub(crate) token: Option<SecretString>,
    /// Require the token in this file from clients
    #[arg(long, conflicts_with = "no_token", value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Allow every client that can reach the address: on a loopback address, all users and programs of
    /// this machine
    #[arg(long)]
    pub(crate) no_token: bool,
    /// Read agents of your own and installation sources from this file
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Store sessions, agents and configuration in this directory
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Never install an agent on first use
    #[arg(long)]
    pub(crate) no_install: bool,
    #[command(flatten)]
    pub(crate) install: InstallOptions,
    #[command(flatten)]
    pub(crate) settings: DaemonSettings,
    /// Join this hub: the daemon connects to it, and clients reach the daemon through it. A hub
    /// certificate of a private CA is accepted if the system trusts that CA, or if the file in
    /// SSL_CERT_FILE has it; that file then replaces the system's CAs
    #[arg(long, value_name = "URL")]
    pub(crate) join: Option<String>,
    /// Read the token that `tombolo hub runtimes invite` printed from this file
    /// [default: the variable TOMBOLO_JOIN_TOKEN]
    #[arg(long, requires = "join", value_name = "FILE")]
    pub(crate) join_token_file: Option<PathBuf>,
    /// Join as this runtime; fails if the token is for another
    #[arg(long, requires = "join", value_name = "NAME")]
    pub(crate) join_as: Option<RuntimeId>,
    /// Log at this level, or by `target=level` pairs
    #[arg(long, env = "TOMBOLO_LOG", hide_env_values = true, default_value = "warn", value_name = "FILTER")]
    pub(crate) log: String,
    #[command(flatten)]
    pub(crate) traces: TraceOptions,
}

impl Default for DaemonOptions {
    /// The options of an empty command line.
    fn default() -> Self {
        #[derive(Parser)]
        struct OnlyOptions {
            #[command(flatten)]
            options: DaemonOptions,
        }
        OnlyOptions::parse_from(["tombolo"]).options
    }
}
