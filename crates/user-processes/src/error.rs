//! Errors of user processes.

use protocol::ProcessId;

/// An error of a user process.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such process.
    #[error("there is no process `{0}`")]
    NotFound(ProcessId),
    /// The request is invalid.
    #[error(transparent)]
    Invalid(#[from] InvalidStart),
    /// It could not be started.
    #[error(transparent)]
    Start(process::Error),
    /// The maximum number of processes is running.
    #[error("{0} processes are running, which is the maximum; stop one and try again")]
    TooMany(usize),
    /// The daemon shuts down.
    #[error("the process was not started because the daemon is shutting down")]
    ShuttingDown,
    /// It has exited.
    #[error("process `{0}` has exited")]
    Ended(ProcessId),
    /// Its input was closed, by a request or by the process itself.
    #[error("the input of process `{0}` is closed")]
    InputClosed(ProcessId),
    /// It does not read its input fast enough.
    #[error("process `{0}` does not read its input fast enough; try again later")]
    Busy(ProcessId),
    /// It has no terminal.
    #[error("process `{0}` was started without a terminal; start it with `terminal` to attach or resize")]
    NoTerminal(ProcessId),
    /// The system refused to signal it or to resize its terminal.
    #[error(transparent)]
    Refused(process::Error),
}

/// Why a start request is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidStart {
    /// The command is empty or contains a NUL.
    #[error("`command` must name a program")]
    Command,
    /// An argument contains a NUL.
    #[error("`args[{0}]` contains a NUL character")]
    Arg(usize),
    /// A variable has an invalid name or value.
    #[error(
        "`env` contains an invalid variable `{0}`: names must not be empty or contain `=`, and NUL is not permitted"
    )]
    Env(String),
    /// The working directory is not an absolute path of a directory.
    #[error("`cwd` must be the absolute path of an existing directory; `{0}` is not")]
    Cwd(String),
    /// The terminal size is zero.
    #[error("a terminal needs at least one column and one row")]
    Size,
}
