//! What can go wrong with a process.

use protocol::ProcessId;

/// What can go wrong with a process.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such process.
    #[error("there is no process `{0}`")]
    NotFound(ProcessId),
    /// What was asked for cannot be started by anybody.
    #[error(transparent)]
    Invalid(#[from] InvalidStart),
    /// It could not be started.
    #[error(transparent)]
    Start(process::Error),
    /// As many run as may.
    #[error("{0} processes run, which is the most there may be")]
    TooMany(usize),
    /// No process is started any more.
    #[error("no more processes are started")]
    ShuttingDown,
    /// It has ended.
    #[error("process `{0}` has ended")]
    Ended(ProcessId),
    /// It or someone else has closed its input.
    #[error("the input of process `{0}` is closed")]
    InputClosed(ProcessId),
    /// It does not read what it was sent before.
    #[error("process `{0}` does not read its input: try again later")]
    Busy(ProcessId),
    /// It has no terminal.
    #[error("process `{0}` was started without a terminal")]
    NoTerminal(ProcessId),
    /// The system refused to signal it or to change its terminal.
    #[error(transparent)]
    Refused(process::Error),
}

/// What no process can be started with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidStart {
    /// There is no program.
    #[error("`command` must name a program")]
    Command,
    /// An argument cannot be passed on.
    #[error("`args[{0}]` has a NUL in it")]
    Arg(usize),
    /// A variable cannot be set.
    #[error("`env` has a variable that no process can be given: `{0}`")]
    Env(String),
    /// It cannot run there.
    #[error("`cwd` must be an absolute path to a directory, and `{0}` is not")]
    Cwd(String),
    /// A terminal has at least one character.
    #[error("a terminal has at least one column and one row")]
    Size,
}
