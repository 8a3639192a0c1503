//! Failures of commands: their messages and exit codes.

use std::{error::Error, io, process::ExitCode};

use client::ProblemDetails;
use protocol::event::TurnEndReason;

use crate::output::plain;

/// The exit codes, for `--help`.
pub(crate) const CODES: &str = "\
Exit codes:
  0  success
  1  the server refused the request; stderr has the problem, as JSON with --json
  2  the command line is invalid
  3  the server could not be reached, or the connection was lost
  4  the response is not that of a Tombolo server; check the URL
  5  a local file could not be read or written
  6  the agent of a new session is not ready";

/// The exit codes of `tombolo acp`, for `--help`.
pub(crate) const EDITOR_CODES: &str = "\
Exit codes:
  0  the editor disconnected, or a signal ended the command
  1  the daemon refused the request, for example because of the token
  2  the command line is invalid
  3  the daemon could not be reached within --reconnect-timeout
  4  the response is not that of a Tombolo daemon; check --endpoint
  5  a local file could not be read
  6  the agent exited, or its instance was deleted
  7  messages were lost: the agent sent more during a disconnect than the daemon keeps";

/// The exit codes of `tombolo chat`, for `--help`.
pub(crate) const CHAT_CODES: &str = "\
Exit codes:
  0  you ended the conversation
  1  the daemon refused the request, for example because of the token
  2  the command line is invalid
  3  the daemon could not be reached
  4  the response is not that of a Tombolo daemon; check --endpoint
  6  the agent cannot be used, or the session was deleted
  8  the last turn failed
  9  the last turn was interrupted
  10 the model refused to answer in the last turn
  11 the model reached its token limit in the last turn";

/// The exit codes of `tombolo run`, for `--help`.
pub(crate) const RUN_CODES: &str = "\
Exit codes:
  0  the turn completed
  1  the daemon refused the request, for example because of the token
  2  the command line is invalid
  3  the daemon could not be reached, or the connection was lost
  4  the response is not that of a Tombolo daemon; check --endpoint
  5  a local file could not be read or written
  6  the agent cannot be used, or the session was deleted
  8  the turn failed
  9  the turn was interrupted
  10 the model refused to answer
  11 the model reached its token limit";

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// The server answered with a problem document.
    Refused(Box<ProblemDetails>),
    /// The hub rejected the device.
    NotAccepted(String),
    /// An argument is invalid.
    Usage(String),
    /// The server could not be reached.
    Unreachable(client::Error),
    /// The response was not that of a Tombolo server.
    UnexpectedResponse(client::Error),
    /// A local file or stream could not be read or written.
    Local(anyhow::Error),
    /// The agent exited, or its instance was deleted.
    AgentEnded {
        /// Why it ended.
        how: String,
        /// The end of the agent's standard error.
        last_words: String,
    },
    /// Events that the client has not read were evicted.
    Missed(String),
    /// A turn ended before the agent completed its work.
    TurnNotCompleted(IncompleteTurn),
    /// A process that the command ran failed.
    ProcessFailed {
        /// Its exit code, or 128 and the signal that ended it.
        status: u8,
        /// How it ended.
        how: String,
    },
    /// A wait was answered before, or is no longer open.
    AlreadySettled(String),
    /// No device runs here.
    Absent(String),
    /// An audit log failed its verification.
    Broken(String),
    /// The reader of our output closed the pipe.
    Closed,
}

/// How a turn ended that did not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IncompleteTurn {
    Failed,
    Interrupted,
    Refused,
    TokenLimit,
}

impl IncompleteTurn {
    /// The failure of a turn that ended for this reason; success if it completed.
    pub(crate) fn check(reason: TurnEndReason) -> CommandResult {
        let incomplete = match reason {
            TurnEndReason::Completed | TurnEndReason::Other => return Ok(()),
            TurnEndReason::Failed => Self::Failed,
            TurnEndReason::Interrupted => Self::Interrupted,
            TurnEndReason::Refused => Self::Refused,
            TurnEndReason::MaxTokens => Self::TokenLimit,
        };
        Err(CommandError::TurnNotCompleted(incomplete))
    }

    fn code(self) -> u8 {
        match self {
            Self::Failed => 8,
            Self::Interrupted => 9,
            Self::Refused => 10,
            Self::TokenLimit => 11,
        }
    }

    fn sentence(self) -> &'static str {
        match self {
            Self::Failed => "the turn failed",
            Self::Interrupted => "the turn was interrupted",
            Self::Refused => "the model refused to answer",
            Self::TokenLimit => "the model reached its token limit",
        }
    }
}

/// The result of a command.
pub(crate) type CommandResult = Result<(), CommandError>;

impl CommandError {
    /// The exit code, as [`CODES`], [`EDITOR_CODES`], [`CHAT_CODES`] and [`RUN_CODES`] list it.
    fn code(&self) -> u8 {
        match self {
            CommandError::Closed => 0,
            CommandError::Refused(_)
            | CommandError::NotAccepted(_)
            | CommandError::AlreadySettled(_)
            | CommandError::Broken(_) => 1,
            CommandError::ProcessFailed { status, .. } => *status,
            CommandError::Usage(_) => 2,
            CommandError::Unreachable(_) | CommandError::Absent(_) => 3,
            CommandError::UnexpectedResponse(_) => 4,
            CommandError::Local(_) => 5,
            CommandError::AgentEnded { .. } => 6,
            CommandError::Missed(_) => 7,
            CommandError::TurnNotCompleted(turn) => turn.code(),
        }
    }

    /// The failure in one sentence.
    pub(crate) fn summary(&self) -> String {
        match self {
            CommandError::Closed => "the output was closed".into(),
            CommandError::Refused(refusal) => refusal.to_string(),
            CommandError::Usage(message)
            | CommandError::NotAccepted(message)
            | CommandError::Missed(message)
            | CommandError::Absent(message)
            | CommandError::AlreadySettled(message)
            | CommandError::Broken(message) => message.clone(),
            CommandError::TurnNotCompleted(turn) => turn.sentence().into(),
            CommandError::Unreachable(error) | CommandError::UnexpectedResponse(error) => chain(error),
            CommandError::Local(error) => format!("{error:#}"),
            CommandError::AgentEnded { how, .. } | CommandError::ProcessFailed { how, .. } => how.clone(),
        }
    }
}

impl From<client::Error> for CommandError {
    fn from(error: client::Error) -> Self {
        match error {
            client::Error::Problem(refusal) => CommandError::Refused(refusal),
            client::Error::Transport(_) => CommandError::Unreachable(error),
            client::Error::Unexpected { .. } => CommandError::UnexpectedResponse(error),
            client::Error::Local { action, source } => local(action, source),
        }
    }
}

impl From<io::Error> for CommandError {
    /// For errors of our own output. Errors of files use [`local`], which names the file.
    fn from(error: io::Error) -> Self {
        local("write the output", error)
    }
}

/// A local failure: "could not `action`".
pub(crate) fn local(action: &str, error: io::Error) -> CommandError {
    match error.kind() {
        io::ErrorKind::BrokenPipe => CommandError::Closed,
        _ => CommandError::Local(anyhow::Error::new(error).context(format!("could not {action}"))),
    }
}

/// Prints a failure to stderr, with the request that failed as `context`, and returns the exit code.
pub(crate) fn report(outcome: CommandResult, json: bool, context: &str) -> ExitCode {
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    match &failure {
        CommandError::Closed => {}
        // To stderr even with --json: stdout carries only successful responses, so a pipe never parses a problem.
        CommandError::Refused(refusal) if json => say(&plain(&String::from_utf8_lossy(&refusal.body))),
        CommandError::Refused(refusal) => {
            say(&plain(&refusal.sentence()));
            say(&format!("  {}", plain(&refusal.urn)));
            for cause in &refusal.causes {
                say(&plain(&format!("  - {}: {}", cause.source, cause.reason)));
            }
            quote(refusal.stderr_tail.as_deref().unwrap_or_default());
            if let Some(id) = &refusal.request_id {
                say(&format!("  request {}", plain(id)));
            }
        }
        CommandError::AgentEnded { how, last_words } => {
            say(&plain(&format!("tombolo: {how}")));
            quote(last_words);
        }
        CommandError::Usage(message)
        | CommandError::Missed(message)
        | CommandError::Absent(message)
        | CommandError::AlreadySettled(message)
        | CommandError::NotAccepted(message)
        | CommandError::Broken(message) => say(&plain(&format!("tombolo: {message}"))),
        CommandError::Unreachable(error) | CommandError::UnexpectedResponse(error) => {
            say(&plain(&format!("tombolo: {}: {context}", chain(error))));
        }
        CommandError::Local(error) => say(&plain(&format!("tombolo: {error:#}"))),
        CommandError::ProcessFailed { how, .. } => say(&plain(&format!("tombolo: {how}"))),
        CommandError::TurnNotCompleted(turn) => say(&format!("tombolo: {}", turn.sentence())),
    }
    ExitCode::from(failure.code())
}

/// The exit code of a command that does not call a server; prints its error.
pub(crate) fn code(run: anyhow::Result<ExitCode>) -> ExitCode {
    run.unwrap_or_else(|error| {
        let pipe_closed =
            error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe);
        if pipe_closed {
            return ExitCode::SUCCESS;
        }
        say(&format!("tombolo: {error:#}"));
        ExitCode::FAILURE
    })
}

fn quote(last_words: &str) {
    for line in last_words.lines() {
        say(&format!("  | {}", plain(line)));
    }
}

/// Prints a line to stderr. A failure is ignored: there is no other place to report it.
pub(crate) fn say(line: &str) {
    use std::io::Write;
    let _ = writeln!(io::stderr(), "{line}");
}

/// An error with all its causes. Causes that a message already repeats at its end are left out.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.ends_with(&message) {
            text = format!("{text}: {message}");
        }
        cause = error.source();
    }
    text
}
