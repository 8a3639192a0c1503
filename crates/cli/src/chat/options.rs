//! What can be said of a conversation.

use clap::Args;
use protocol::{AgentName, SessionId, sessions::PermissionMode};

use crate::{
    api::permission_mode,
    exit,
    server_args::{DaemonUrl, ServerArgs},
};

/// Talk with an agent in the terminal.
#[derive(Debug, Args)]
#[command(after_help = [
    "\
What you type while the agent works waits for its turn; with `!` before it, the agent is told at
once. Ctrl-C interrupts the agent, twice leaves, Ctrl-D leaves. The session stays: --session goes on
with it. If standard input is no terminal, each line is a prompt, or the answer to what the agent
asks. A line that is none rejects what is asked, and so does the end of the input.

Examples:
  tombolo chat --agent claude --directory /workspace
  tombolo chat --session fix-the-tests
  echo 'Why does the build fail?' | tombolo chat --agent codex --permission-mode plan

",
    exit::CHAT_CODES,
].concat())]
pub(crate) struct ChatOptions {
    /// The agent; `claude` for a new session if left out
    #[arg(long)]
    pub(super) agent: Option<AgentName>,
    /// The session: one that is there is gone on with. A new name if left out
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<SessionId>,
    /// The model; the agent's own choice if left out
    #[arg(long)]
    pub(super) model: Option<String>,
    /// The variant of the model, such as how long it may think
    #[arg(long)]
    pub(super) variant: Option<String>,
    /// How the agent behaves; `build` if left out
    #[arg(long)]
    pub(super) mode: Option<String>,
    /// What the agent may do: default (it asks), plan (it reads until its plan is approved) or bypass
    #[arg(long, value_name = "MODE", value_parser = permission_mode)]
    pub(super) permission_mode: Option<PermissionMode>,
    /// The directory that the agent works in, as an absolute path in the sandbox; the daemon's if left out
    #[arg(long, short)]
    pub(super) directory: Option<String>,
    #[command(flatten)]
    pub(super) server: ServerArgs<DaemonUrl>,
}
