//! Wire types of `/v1/processes`: programs that a user runs in the sandbox.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ProcessId, json_object};

/// The body of `POST /v1/processes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartProcessRequest {
    /// The program.
    pub command: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Its working directory as an absolute path; the daemon's own if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables added to its environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The size of its terminal; no terminal if left out.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "json_object::optional")]
    #[schemars(with = "Option<TerminalSize>")]
    pub terminal: Option<TerminalSize>,
}

/// The body of `POST /v1/processes/run`, which runs a process to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunProcessRequest {
    /// The program.
    pub command: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Its working directory as an absolute path; the daemon's own if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Variables added to its environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// How long it may run before it is killed; the daemon's limit if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// How much of each output stream is returned; 1 MiB, which is also the maximum, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1048576))]
    pub max_output_bytes: Option<usize>,
}

impl From<RunProcessRequest> for StartProcessRequest {
    fn from(run: RunProcessRequest) -> Self {
        let RunProcessRequest { command, args, cwd, env, timeout_ms: _, max_output_bytes: _ } = run;
        Self { command, args, cwd, env, terminal: None }
    }
}

/// The response of `POST /v1/processes/run`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunProcessResult {
    /// The exit code, unless a signal ended the process.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if any.
    pub signal: Option<i32>,
    /// Whether it was killed because its time was over.
    pub timed_out: bool,
    /// The beginning of its standard output. Invalid UTF-8 is replaced.
    pub stdout: String,
    /// The beginning of its standard error. Invalid UTF-8 is replaced.
    pub stderr: String,
    /// Whether it wrote more to its standard output.
    pub stdout_truncated: bool,
    /// Whether it wrote more to its standard error.
    pub stderr_truncated: bool,
    /// How long it ran.
    pub duration_ms: u64,
}

/// The size of a terminal in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TerminalSize {
    /// The number of columns.
    #[schemars(range(min = 1))]
    pub columns: u16,
    /// The number of rows.
    #[schemars(range(min = 1))]
    pub rows: u16,
}

/// The response of `GET /v1/processes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserProcessList {
    /// Every process that was not deleted, oldest first.
    pub items: Vec<UserProcess>,
    /// Always `null`: the list is complete.
    pub next_cursor: Option<String>,
}

/// A process that a user started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserProcess {
    /// Its id.
    pub id: ProcessId,
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its working directory.
    pub cwd: String,
    /// The size of its terminal, if it has one.
    pub terminal: Option<TerminalSize>,
    /// The process id of the operating system, which is also its process group.
    pub pid: u32,
    /// Whether it is running.
    pub state: ProcessState,
    /// When it was started.
    pub started_at: Timestamp,
    /// How it ended; `null` while it runs.
    pub exit: Option<ProcessExit>,
}

/// Whether a process is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ProcessState {
    /// Running.
    Running,
    /// Ended.
    Exited,
}

/// How a process ended. Code and signal are both `null` if that is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessExit {
    /// The exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it, if any.
    pub signal: Option<i32>,
    /// When the daemon observed the end.
    #[serde(alias = "at")]
    pub exited_at: Timestamp,
}

/// The response of `GET /v1/processes/{id}/logs`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessLogPage {
    /// Pieces of output, in order.
    pub items: Vec<ProcessLogEntry>,
    /// Set if requested output is no longer stored; the items then start at its `oldest`.
    pub gap: Option<ProcessLogGap>,
    /// Pass it as `cursor` for what comes next; `null` when the process has ended and this was all.
    pub next_cursor: Option<String>,
}

/// Requested output is no longer stored: reading continues at `oldest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessLogGap {
    /// The sequence number of the oldest stored piece.
    pub oldest: u64,
    /// The sequence number of the newest piece at that time.
    pub newest: u64,
}

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProcessLogEntry {
    /// The sequence number: 1 for the first piece, and one more for each next one.
    pub seq: u64,
    /// The stream that it was written to.
    pub stream: OutputStream,
    /// When the daemon read it.
    #[serde(alias = "at")]
    pub logged_at: Timestamp,
    /// The text. Invalid UTF-8 is replaced; a character that was split over two pieces is in the later one.
    pub text: String,
}

/// An output stream of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OutputStream {
    /// Standard output, or the terminal.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The body of `POST /v1/processes/{id}/signal`.
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
    /// Kill immediately.
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

/// A text frame that a client of `GET /v1/processes/{id}/terminal` sends. Keyboard input is sent in binary frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum TerminalCommand {
    /// Change the size of the terminal.
    Resize {
        /// The number of columns.
        #[schemars(range(min = 1))]
        columns: u16,
        /// The number of rows.
        #[schemars(range(min = 1))]
        rows: u16,
    },
}

/// A text frame of `GET /v1/processes/{id}/terminal`. Output comes in binary frames, one for each piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum TerminalEvent {
    /// The first frame: the sequence numbers of the binary frames that follow start after `after`.
    Attached {
        /// Pass it as `after` to receive the same frames again.
        after: u64,
    },
    /// Some output is no longer stored: the next binary frame has the sequence number `oldest`.
    Gap {
        /// The sequence number of the oldest stored piece.
        oldest: u64,
        /// The sequence number of the newest piece at that time.
        newest: u64,
    },
    /// The process ended; the last frame before the connection is closed.
    Exited {
        /// The exit code, unless a signal ended it.
        code: Option<i32>,
        /// The signal that ended it, if any.
        signal: Option<i32>,
        /// When the daemon observed the end.
        #[serde(alias = "at")]
        exited_at: Timestamp,
    },
}

crate::schema::wire_types! {
    received: StartProcessRequest, RunProcessRequest, TerminalSize, SendSignalRequest, TerminalCommand;
    sent: RunProcessResult, UserProcessList, UserProcess, ProcessLogPage, ProcessLogEntry, TerminalEvent;
}
