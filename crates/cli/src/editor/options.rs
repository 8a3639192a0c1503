//! What can be said of a bridge to an editor.

use std::path::PathBuf;

use clap::Args;
use protocol::{AgentName, ServerId};

use crate::{api::DEFAULT_ENDPOINT, exit};

/// Be an ACP agent on the standard streams: the one that runs in a sandbox.
#[derive(Debug, Args)]
#[command(after_help = [
    "\
The token is the variable TOMBOLO_TOKEN or --token-file; it is never an argument. The network may
drop at any time: nothing is lost or doubled, in either direction. When the editor leaves (end of
input, SIGTERM, SIGINT, SIGHUP, nobody reads), the instance is deleted, so that no agent is left in
the sandbox; if this is killed so that it cannot, the daemon does so after --linger-ms. An instance
that was there before, named by --server-id, is left running.

Examples:
  tombolo acp --endpoint https://box.example --agent claude --token-file token
  tombolo acp --agent mock --server-id shared

",
    exit::EDITOR_CODES,
].concat())]
pub(crate) struct EditorOptions {
    /// Where the daemon is
    #[arg(
        long,
        env = "TOMBOLO_ENDPOINT",
        hide_env_values = true,
        default_value = DEFAULT_ENDPOINT,
        value_name = "URL"
    )]
    pub(super) endpoint: String,
    /// A file that holds the token
    #[arg(long, value_name = "FILE")]
    pub(super) token_file: Option<PathBuf>,
    /// The agent to run
    #[arg(long)]
    pub(super) agent: AgentName,
    /// The directory in the sandbox that the agent runs in
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) cwd: Option<String>,
    /// A name for the instance; one that is there already is shared, and left running. Random if left out
    #[arg(long, value_name = "ID")]
    pub(super) server_id: Option<ServerId>,
    /// How many milliseconds to keep trying while the daemon cannot be reached
    #[arg(long, value_name = "MS", default_value_t = 300_000)]
    pub(super) patience_ms: u64,
    /// How many milliseconds the daemon keeps the instance while nobody is connected to it
    #[arg(long, value_name = "MS", default_value_t = 600_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) linger_ms: u64,
}
