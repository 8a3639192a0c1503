//! How the program ends: what it says, and its exit code.

use std::{error::Error, io, process::ExitCode};

use client::Refusal;

use crate::output::plain;

/// What the exit codes mean, for `--help`.
pub(crate) const CODES: &str = "\
Exit codes:
  0  done
  1  the server said no: the problem is on stderr, as JSON with --json
  2  the command line, or a value on it, makes no sense
  3  the server could not be reached, or the connection was lost
  4  the answer was not understood: is it a Tombolo daemon?
  5  a local file could not be read or written";

/// What the exit codes of `tombolo acp` mean, for `--help`.
pub(crate) const EDITOR_CODES: &str = "\
Exit codes:
  0  the editor left, or a signal ended it
  1  the daemon said no, for example to the token
  2  the command line, or a value on it, makes no sense
  3  the daemon could not be reached for as long as --patience-ms
  4  the answer was not understood: is it a Tombolo daemon?
  5  a local file could not be read
  6  the agent ended, or its instance was deleted
  7  the agent said more during a cut than the daemon keeps: messages are missing";

/// What the exit codes of `tombolo chat` mean, for `--help`.
pub(crate) const CHAT_CODES: &str = "\
Exit codes:
  0  you left
  1  the daemon said no, for example to the token
  2  the command line, or a value on it, makes no sense
  3  the daemon could not be reached
  4  the answer was not understood: is it a Tombolo daemon?
  6  the agent cannot be used, or the session was deleted
  8  the last turn failed, or was interrupted";

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The server said no.
    Refused(Box<Refusal>),
    /// The hub does not accept the device.
    NotAccepted(String),
    /// What was asked for makes no sense.
    Usage(String),
    /// The server could not be reached.
    Unreachable(client::Error),
    /// The answer was not understood.
    NotUnderstood(client::Error),
    /// Something on this side could not be read or written.
    Local(anyhow::Error),
    /// The agent has ended, or its instance is gone.
    AgentEnded {
        /// How it came.
        how: String,
        /// The last it wrote to standard error.
        last_words: String,
    },
    /// What the agent said in the meantime is no longer kept.
    Missed(String),
    /// The last turn did not come to its end.
    TurnFailed(String),
    /// Nobody is there who could be asked.
    Absent(String),
    /// A record is not what it was.
    Broken(String),
    /// Whoever read our output has had enough.
    Closed,
}

/// What a command came to.
pub(crate) type Outcome = Result<(), Failure>;

impl Failure {
    /// The exit code, as [`CODES`], [`EDITOR_CODES`] and [`CHAT_CODES`] say it.
    fn code(&self) -> u8 {
        match self {
            Failure::Closed => 0,
            Failure::Refused(_) | Failure::NotAccepted(_) | Failure::Broken(_) => 1,
            Failure::Usage(_) => 2,
            Failure::Unreachable(_) | Failure::Absent(_) => 3,
            Failure::NotUnderstood(_) => 4,
            Failure::Local(_) => 5,
            Failure::AgentEnded { .. } => 6,
            Failure::Missed(_) => 7,
            Failure::TurnFailed(_) => 8,
        }
    }

    /// What went wrong, in one sentence.
    pub(crate) fn summary(&self) -> String {
        match self {
            Failure::Closed => "nobody reads the output".into(),
            Failure::Refused(refusal) => refusal.to_string(),
            Failure::Usage(message)
            | Failure::NotAccepted(message)
            | Failure::Missed(message)
            | Failure::TurnFailed(message)
            | Failure::Absent(message)
            | Failure::Broken(message) => message.clone(),
            Failure::Unreachable(error) | Failure::NotUnderstood(error) => chain(error),
            Failure::Local(error) => format!("{error:#}"),
            Failure::AgentEnded { how, .. } => how.clone(),
        }
    }
}

impl From<client::Error> for Failure {
    fn from(error: client::Error) -> Self {
        match error {
            client::Error::Problem(refusal) => Failure::Refused(refusal),
            client::Error::Transport(_) => Failure::Unreachable(error),
            client::Error::Unexpected { .. } => Failure::NotUnderstood(error),
            client::Error::Local { doing, source } => local(doing, source),
        }
    }
}

impl From<io::Error> for Failure {
    /// For our own output; reading and writing of files says more with [`local`].
    fn from(error: io::Error) -> Self {
        local("write the output", error)
    }
}

/// A failure to do something on this side.
pub(crate) fn local(doing: &str, error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::Local(anyhow::Error::new(error).context(format!("could not {doing}"))),
    }
}

/// Says why a command failed, and what it was doing; the exit code that goes with it.
pub(crate) fn report(outcome: Outcome, json: bool, doing: &str) -> ExitCode {
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    match &failure {
        Failure::Closed => {}
        // stdout only ever carries what was asked for, so that it can be piped without looking.
        Failure::Refused(refusal) if json => say(&plain(&String::from_utf8_lossy(&refusal.body))),
        Failure::Refused(refusal) => {
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
        Failure::AgentEnded { how, last_words } => {
            say(&plain(&format!("tombolo: {how}")));
            quote(last_words);
        }
        Failure::Usage(message)
        | Failure::Missed(message)
        | Failure::TurnFailed(message)
        | Failure::Absent(message)
        | Failure::NotAccepted(message)
        | Failure::Broken(message) => say(&plain(&format!("tombolo: {message}"))),
        Failure::Unreachable(error) | Failure::NotUnderstood(error) => {
            say(&plain(&format!("tombolo: {}: {doing}", chain(error))));
        }
        Failure::Local(error) => say(&plain(&format!("tombolo: {error:#}"))),
    }
    ExitCode::from(failure.code())
}

/// The exit code of the commands that ask no server.
pub(crate) fn code(run: anyhow::Result<ExitCode>) -> ExitCode {
    run.unwrap_or_else(|error| {
        let closed = error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe);
        if closed {
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

/// Says a line to whoever is there.
pub(crate) fn say(line: &str) {
    use std::io::Write;
    // There is nobody left to tell if it cannot be written.
    let _ = writeln!(io::stderr(), "{line}");
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // Some repeat their cause in their own words.
        let said = error.to_string();
        if !text.ends_with(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}
