//! `shell.*`: commands.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Encoding, VirtualPath};

/// Starts a command: one of `command` and `argv`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartCommand {
    /// A line for the shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// A program and its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
    /// Where it runs; below a root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<VirtualPath>,
    /// Variables for it, as far as they are granted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// How long it may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// A terminal of this size; without it there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pty: Option<Size>,
    /// Whether the answer comes when it has started, not when it has ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// How much of its output is wanted at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_limit_bytes: Option<u64>,
}

/// What is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program<'a> {
    /// A line for the shell.
    Line(&'a str),
    /// A program and its arguments.
    Argv(&'a str, &'a [String]),
}

impl StartCommand {
    /// What is run; none unless there is one of `command` and `argv`.
    pub fn program(&self) -> Option<Program<'_>> {
        match (self.command.as_deref(), self.argv.as_deref()) {
            (Some(line), None) => Some(Program::Line(line)),
            (None, Some([program, args @ ..])) => Some(Program::Argv(program, args)),
            _ => None,
        }
    }
}

/// The size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Size {
    /// Characters in a row.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

/// A command has ended, or has started if it is in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ended {
    /// How it ended; 128 and the signal's number if a signal ended it, none in the background.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<Signal>,
    /// Whether output was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// How much output there was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_seen: Option<u64>,
    /// How much of it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_sent: Option<u64>,
    /// The command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_id: Option<String>,
}

/// A command has started: the `data` of its first `status` frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Started {
    /// The command.
    pub command_id: String,
}

/// Writes to what a command reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandInput {
    /// The command.
    pub command_id: String,
    /// The bytes.
    #[serde(default)]
    pub data: String,
    /// How they are written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
    /// Whether nothing comes after them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub eof: bool,
}

/// Changes the size of a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResizeCommand {
    /// The command.
    pub command_id: String,
    /// Characters in a row.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

/// Sends a signal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignalCommand {
    /// The command.
    pub command_id: String,
    /// Which.
    pub signal: Signal,
}

/// A signal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Signal {
    /// By its number.
    Number(i32),
    /// By its name, such as `SIGTERM` or `TERM`.
    Name(String),
}

/// Ends a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CancelCommand {
    /// The command.
    pub command_id: String,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How a command is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InspectCommand {
    /// The command.
    pub command_id: String,
    /// Whether its output since the last time is wanted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drain: bool,
}

/// How a command is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandStatus {
    /// Whether it runs.
    pub state: CommandState,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// When it was started.
    pub started_at: Timestamp,
    /// Whether output is lost.
    pub output_truncated: bool,
    /// Its output since the last time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<Output>,
}

/// Whether a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandState {
    /// It does.
    Running,
    /// It ended.
    Exited,
    /// A signal ended it.
    Killed,
    /// Nobody can tell.
    #[serde(other)]
    Lost,
}

/// Something that a command wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// `stdout` or `stderr`.
    pub event: String,
    /// The bytes.
    pub data: String,
    /// How they are written, if not as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
}
