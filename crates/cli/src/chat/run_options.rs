//! Command line options of `tombolo run`.

use clap::{Args, ValueEnum};

use super::{allow_rule::AllowRule, session_options::SessionOptions};
use crate::{
    exit,
    server_args::{DaemonUrl, ServerArgs},
};

/// Send one prompt to an agent and print its answer
#[derive(Debug, Args)]
#[command(after_help = [
    "\
The answer is printed to standard output; reasoning, tool calls and questions go to standard error.
The session is kept: continue it with `tombolo chat --session`.

What the agent asks permission for and --allow does not cover is asked on the terminal. Without a
terminal it is denied, and so are questions and plans; standard error says what was denied. Reading
the prompt from standard input leaves no terminal to ask on.

Examples:
  tombolo run 'Why does the build fail?' --agent claude --directory /workspace
  tombolo run 'Fix the failing test' --allow edits
  git diff | tombolo run - --permission-mode plan --output-format json | jq -r .answer

",
    exit::RUN_CODES,
].concat())]
pub(crate) struct RunOptions {
    /// The prompt; `-` or nothing reads standard input
    pub(super) prompt: Option<String>,
    /// Allow permission requests without asking: none, edits (changes of files) or all
    #[arg(long, value_name = "WHAT", value_enum, default_value_t, hide_possible_values = true)]
    pub(super) allow: AllowRule,
    /// Print the answer as text while it is written, or one JSON object at the end
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(super) output_format: OutputFormat,
    #[command(flatten)]
    pub(super) session: SessionOptions,
    #[command(flatten)]
    pub(super) server: ServerArgs<DaemonUrl>,
}

/// The form of the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum OutputFormat {
    #[default]
    Text,
    Json,
}
