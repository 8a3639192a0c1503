//! `shell.*`: shell commands.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Encoding, VirtualPath};

/// Parameters of `shell.start`. Exactly one of `command` and `argv` is required.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StartCommand {
    /// Command line for the shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Program and arguments, run without a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
    /// Working directory, below a root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<VirtualPath>,
    /// Environment variables, limited to the granted names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Time limit in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Size of the terminal; without it the command gets no terminal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pty: Option<TerminalDimensions>,
    /// Respond when the command has started instead of when it has ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// Maximum output in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_limit_bytes: Option<u64>,
}

/// The program that a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandProgram<'a> {
    /// Command line for the shell.
    Line(&'a str),
    /// Program and arguments, run without a shell.
    Argv(&'a str, &'a [String]),
}

impl StartCommand {
    /// Returns the program, or `None` unless exactly one of `command` and `argv` is present.
    pub fn program(&self) -> Option<CommandProgram<'_>> {
        match (self.command.as_deref(), self.argv.as_deref()) {
            (Some(line), None) => Some(CommandProgram::Line(line)),
            (None, Some([program, args @ ..])) => Some(CommandProgram::Argv(program, args)),
            _ => None,
        }
    }
}

/// Size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TerminalDimensions {
    /// Number of columns.
    pub cols: u16,
    /// Number of rows.
    pub rows: u16,
}

/// Result of `shell.start`: the command has ended or, in the background, started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandOutcome {
    /// Exit code; 128 plus the signal number after a signal. Absent for a background command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Run time in milliseconds.
    pub duration_ms: u64,
    /// The signal that ended the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<Signal>,
    /// Whether output was cut at a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// Output produced, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_seen: Option<u64>,
    /// Output sent, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_sent: Option<u64>,
    /// Id of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command_id: Option<String>,
}

/// The command has started: `data` of its first `status` stream frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandStarted {
    /// Id of the command.
    pub command_id: String,
}

/// Parameters of `shell.input`: writes to the standard input of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandInput {
    /// Id of the command.
    pub command_id: String,
    /// The bytes in the given encoding.
    #[serde(default)]
    pub data: String,
    /// Encoding of `data`; UTF-8 text by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
    /// Close the standard input after these bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub eof: bool,
}

/// Parameters of `shell.resize`: changes the size of the terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResizeCommand {
    /// Id of the command.
    pub command_id: String,
    /// Number of columns.
    pub cols: u16,
    /// Number of rows.
    pub rows: u16,
}

/// Parameters of `shell.signal`: sends a signal to a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignalCommand {
    /// Id of the command.
    pub command_id: String,
    /// The signal.
    pub signal: Signal,
}

/// A Unix signal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Signal {
    /// Signal number.
    Number(i32),
    /// Signal name, such as `SIGTERM` or `TERM`.
    Name(String),
}

/// The names of the signals that can be sent, without `SIG`.
const SIGNAL_NAMES: [&str; 26] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
    "ALRM", "TERM", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "XCPU", "XFSZ", "VTALRM", "WINCH", "SYS",
];

impl Signal {
    /// Returns the name without `SIG` if the signal is given by a name that exists.
    pub fn known_name(&self) -> Option<&'static str> {
        let Self::Name(name) = self else { return None };
        let name = name.to_ascii_uppercase();
        let name = name.strip_prefix("SIG").unwrap_or(&name);
        SIGNAL_NAMES.into_iter().find(|known| *known == name)
    }
}

/// Parameters of `shell.cancel`: stops a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CancelCommand {
    /// Id of the command.
    pub command_id: String,
    /// Reason for the cancellation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Parameters of `shell.status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InspectCommand {
    /// Id of the command.
    pub command_id: String,
    /// Include the output since the previous `shell.status`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drain: bool,
}

/// Status of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandStatus {
    /// Whether the command is running.
    pub state: CommandState,
    /// Exit code of an ended command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Start time.
    pub started_at: Timestamp,
    /// Whether output was lost.
    pub output_truncated: bool,
    /// Output since the previous `shell.status`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<OutputChunk>,
}

/// Whether a command is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandState {
    /// The command is running.
    Running,
    /// The command has exited.
    Exited,
    /// A signal ended the command.
    Killed,
    /// The state is unknown.
    #[serde(other)]
    Lost,
}

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutputChunk {
    /// `stdout` or `stderr`.
    pub event: String,
    /// The bytes in the given encoding.
    pub data: String,
    /// Encoding of `data`; UTF-8 text by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
}
