//! `/v1/processes`: programs that a user runs in the sandbox.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ProcessId, json_object};

/// `POST /v1/processes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartProcessRequest {
    /// The program.
    pub command: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The directory it runs in, as an absolute path; the daemon's own if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables added to its environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Give it a terminal of this size.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "json_object::optional")]
    #[schemars(with = "Option<TerminalSize>")]
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
pub struct UserProcessList {
    /// Every process that was started and not deleted, oldest first.
    pub items: Vec<UserProcess>,
    /// Always `null`: the list is whole.
    pub next_cursor: Option<String>,
}

/// One process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserProcess {
    /// Its id.
    pub id: ProcessId,
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The directory it was started in.
    pub cwd: String,
    /// The size of its terminal, if it has one.
    pub terminal: Option<TerminalSize>,
    /// The system's id for it, which is its group's too.
    pub pid: u32,
    /// Whether it runs.
    pub state: ProcessState,
    /// When it was started.
    pub started_at: Timestamp,
    /// How it ended, once it has.
    pub exit: Option<ProcessExit>,
}

/// Whether a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ProcessState {
    /// It runs.
    Running,
    /// It has ended.
    Exited,
}

/// How a process ended. Code and signal are both `null` when that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessExit {
    /// The exit code, if it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// When that was noticed.
    pub at: Timestamp,
}

/// The answer of `GET /v1/processes/{id}/logs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessLogPage {
    /// Pieces of output, in the order they came.
    pub items: Vec<ProcessLogEntry>,
    /// What was asked for and is no longer kept, if so; the items go on at its `oldest`.
    pub gap: Option<ProcessLogGap>,
    /// Pass it as `after` for what comes next; `null` when the process has ended and this was all.
    pub next_cursor: Option<String>,
}

/// Output that a reader asked for is gone: reading goes on at `oldest`, and `newest` was the last when this was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessLogGap {
    /// The number of the next piece that can be read.
    pub oldest: u64,
    /// The number of the piece that came last.
    pub newest: u64,
}

/// One piece of output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessLogEntry {
    /// Its number: the first is 1, each next one is one more.
    pub seq: u64,
    /// Where it came from.
    pub stream: OutputStream,
    /// When it came.
    pub at: Timestamp,
    /// What it says. Bytes that are not UTF-8 are replaced; a character that came in two pieces is told with the later.
    pub text: String,
}

/// One of the standard streams of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OutputStream {
    /// Standard output, or the terminal.
    Stdout,
    /// Standard error.
    Stderr,
}

/// `POST /v1/processes/{id}/signal`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SendSignalRequest {
    /// The signal.
    pub signal: ProcessSignal,
}

/// A signal that can be sent to a process and its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ProcessSignal {
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

/// What a client of `GET /v1/processes/{id}/terminal` says in text frames. What is typed goes in binary ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum TerminalCommand {
    /// Change the size of the terminal.
    Resize {
        /// Characters in a row.
        #[schemars(range(min = 1))]
        columns: u16,
        /// Rows.
        #[schemars(range(min = 1))]
        rows: u16,
    },
}

/// What `GET /v1/processes/{id}/terminal` says in text frames. What is shown comes in binary ones, one for each piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum TerminalEvent {
    /// The first frame: the binary frames that follow have the numbers after this one.
    Attached {
        /// What to pass as `after` to get the same again.
        after: u64,
    },
    /// What was to come next is no longer kept: the next binary frame has the number `oldest`.
    Gap {
        /// The number of the next piece that can be read.
        oldest: u64,
        /// The number of the piece that came last.
        newest: u64,
    },
    /// The process has ended; the last frame before the connection is closed.
    Exited {
        /// The exit code, if it ended by itself.
        code: Option<i32>,
        /// The signal that ended it, if one did.
        signal: Option<i32>,
        /// When that was noticed.
        at: Timestamp,
    },
}
