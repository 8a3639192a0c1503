//! `/v1/processes`: programs that a user runs in the sandbox.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ProcessId;

/// `POST /v1/processes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Start {
    /// The program.
    pub command: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The directory it runs in; the daemon's own if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables added to its environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Give it a terminal of this size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<TerminalSize>,
}

/// The size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TerminalSize {
    /// Characters in a row.
    #[schemars(range(min = 1))]
    pub columns: u16,
    /// Rows.
    #[schemars(range(min = 1))]
    pub rows: u16,
}

/// The answer of `GET /v1/processes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessList {
    /// Every process that was started and not deleted, oldest first.
    pub items: Vec<Process>,
    /// Always `null`: the list is whole.
    pub next_cursor: Option<String>,
}

/// One process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Process {
    /// Its id.
    pub id: ProcessId,
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Whether it has a terminal.
    pub terminal: bool,
    /// The system's id for it.
    pub pid: u32,
    /// Whether it runs.
    pub state: State,
    /// When it was started.
    pub started_at: Timestamp,
    /// The exit code, once it has ended by itself.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub exit_signal: Option<i32>,
}

/// Whether a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ProcessState")]
pub enum State {
    /// It runs.
    Running,
    /// It has ended.
    Exited,
}

/// The answer of `GET /v1/processes/{id}/logs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogPage {
    /// Pieces of output, in the order they came.
    pub items: Vec<LogEntry>,
    /// Pass it as `after` for what comes next.
    pub next_cursor: Option<String>,
}

/// One piece of output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogEntry {
    /// Where it came from.
    pub stream: Stream,
    /// When it came.
    pub at: Timestamp,
    /// What it says; bytes that are not UTF-8 are replaced.
    pub text: String,
}

/// One of the standard streams of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Stream {
    /// Standard output, or the terminal.
    Stdout,
    /// Standard error.
    Stderr,
}

/// `POST /v1/processes/{id}/signal`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendSignal {
    /// The signal.
    pub signal: Signal,
}

/// A signal that can be sent to a process and its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Signal {
    /// Hang up.
    Hup,
    /// Interrupt, as Ctrl-C does.
    Int,
    /// Quit.
    Quit,
    /// Terminate.
    Term,
    /// Kill, without a chance to tidy up.
    Kill,
    /// First user-defined.
    Usr1,
    /// Second user-defined.
    Usr2,
    /// Stop until `CONT`.
    Stop,
    /// Continue.
    Cont,
}
