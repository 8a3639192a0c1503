//! Command line options of `tombolo chat`.

use clap::Args;

use super::session_options::SessionOptions;
use crate::{
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
    #[command(flatten)]
    pub(super) session: SessionOptions,
    #[command(flatten)]
    pub(super) server: ServerArgs<DaemonUrl>,
}
