//! Command line options of `tombolo chat`.

use clap::Args;
use protocol::{AgentName, SessionId, sessions::PermissionMode};

use crate::{
    api::permission_mode,
    exit,
    server_args::{DaemonUrl, ServerArgs},
};

/// Talk with an agent in the terminal
#[derive(Debug, Args)]
#[command(after_help = [
    "\
Messages that you type while the agent works are queued; start a message with `!` to send it at
once.
Ctrl-C interrupts the agent; press it twice, or Ctrl-D, to leave. The session is kept: continue it
with --session. If standard input is not a terminal, each line is a prompt, or the answer to a
question of the agent. A line that does not answer the question rejects it, as does the end of
input.

Examples:
  tombolo chat --agent claude --directory /workspace
  tombolo chat --session fix-the-tests
  echo 'Why does the build fail?' | tombolo chat --agent codex --permission-mode plan

",
    exit::CHAT_CODES,
].concat())]
pub(crate) struct ChatOptions {
    /// Start this agent in a new session [default: claude]
    #[arg(long)]
    pub(super) agent: Option<AgentName>,
    /// Continue this session, or create one with this id [default: a new random id]
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<SessionId>,
    /// Use this model [default: the agent's choice]
    #[arg(long)]
    pub(super) model: Option<String>,
    /// Use this variant of the model, such as its reasoning effort
    #[arg(long)]
    pub(super) variant: Option<String>,
    /// Run the agent in this mode [default: build]
    #[arg(long)]
    pub(super) mode: Option<String>,
    /// Set permissions: default (ask first), plan (read only until you approve a plan) or bypass (never ask)
    #[arg(long, value_name = "MODE", value_parser = permission_mode)]
    pub(super) permission_mode: Option<PermissionMode>,
    /// Work in this directory, an absolute path in the sandbox [default: the daemon's directory]
    #[arg(long, short)]
    pub(super) directory: Option<String>,
    #[command(flatten)]
    pub(super) server: ServerArgs<DaemonUrl>,
}
