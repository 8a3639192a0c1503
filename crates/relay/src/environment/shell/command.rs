//! A command that runs.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use futures_util::{Stream, StreamExt};
use protocol::relay::{
    Encoding, RelayError, RelayErrorCode, RelayMethod, StreamFrame,
    method::ShellStart,
    shell::{CommandOutcome, CommandStarted, Signal, TerminalDimensions},
};

use super::{Commands, Error, Outcome, Shell};
use crate::{Call, Part};

/// A command that runs: a stream of what it says, the last of which is how it ended. Who drops it before ends it.
#[derive(Debug)]
pub struct Command {
    shell: Commands,
    id: String,
    /// What came before it was known to run.
    early: Option<Said>,
    call: Option<Call>,
}

/// What a command says.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// It wrote this to its output; to its terminal, if it has one.
    Stdout(Vec<u8>),
    /// It wrote this to its errors.
    Stderr(Vec<u8>),
    /// It ended; nothing follows.
    Ended(Outcome),
}

/// What a command came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// What it wrote to its output, from the start.
    pub stdout: Vec<u8>,
    /// What it wrote to its errors, from the start.
    pub stderr: Vec<u8>,
    /// Whether either was longer than was wanted, or than the device sent.
    pub truncated: bool,
    /// How it ended.
    pub ended: CommandOutcome,
}

impl Command {
    /// Waits until it runs, or has ended.
    pub(super) async fn begin(shell: Commands, mut call: Call) -> Result<Self, Error> {
        loop {
            let (id, early) = match call.next().await {
                Some(Part::Stream(frame)) => match frame.data.read::<CommandStarted>() {
                    Ok(CommandStarted { command_id }) if frame.event == "status" => (command_id, None),
                    // Not every device says so; then the command is called as the request is.
                    _ => match said(&frame) {
                        Some(said) => (frame.id, Some(said)),
                        None => continue,
                    },
                },
                Some(Part::Outcome(outcome)) => {
                    let ended = ended(outcome)?;
                    let id = ended.command_id.clone().unwrap_or_default();
                    return Ok(Self { shell, id, early: Some(Said::Ended(Ok(ended))), call: None });
                }
                None => return Err(Error::Disconnected("the command ended without a result".into())),
            };
            return Ok(Self { shell, id, early, call: Some(call) });
        }
    }

    /// Its name, by which others can speak of it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Writes to what it reads.
    ///
    /// # Errors
    /// If it has ended, or its input has.
    pub async fn input(&self, bytes: &[u8]) -> Result<(), Error> {
        self.shell.input(&self.id, bytes).await
    }

    /// Ends what it reads.
    ///
    /// # Errors
    /// If it has ended, or its input has.
    pub async fn end_input(&self) -> Result<(), Error> {
        self.shell.end_input(&self.id).await
    }

    /// Changes the size of its terminal.
    ///
    /// # Errors
    /// If it has ended, or has none.
    pub async fn resize(&self, size: TerminalDimensions) -> Result<(), Error> {
        self.shell.resize(&self.id, size).await
    }

    /// Sends it a signal.
    ///
    /// # Errors
    /// If it has ended.
    pub async fn signal(&self, signal: Signal) -> Result<(), Error> {
        self.shell.signal(&self.id, signal).await
    }

    /// Waits until it has ended, whatever it still says.
    ///
    /// # Errors
    /// If it took too long, or nobody can tell.
    pub async fn wait(mut self) -> Outcome {
        loop {
            match self.next().await {
                Some(Said::Ended(ended)) => return ended,
                Some(_) => {}
                None => return Err(Error::Unconfirmed),
            }
        }
    }

    /// Ends it and all that it started, and waits until they are gone.
    ///
    /// # Errors
    /// [`Error::Unconfirmed`] if nobody can tell that they are, and whatever else may mean that they are not.
    pub async fn kill(self) -> Result<(), Error> {
        match self.shell.cancel(&self.id, Some("killed")).await {
            // It may have ended by itself.
            Err(error) if error.code() != RelayErrorCode::NotFound => return Err(error),
            _ => {}
        }
        match self.wait().await {
            Err(Error::Unconfirmed) => Err(Error::Unconfirmed),
            Err(error) if !matches!(error.code(), RelayErrorCode::Cancelled | RelayErrorCode::Timeout) => {
                Err(error)
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Waits until it has ended; at most `limit` bytes of each of its outputs are kept.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub async fn output(mut self, limit: usize) -> Result<Output, Error> {
        let (mut stdout, mut stderr, mut truncated) = (Vec::new(), Vec::new(), false);
        let mut keep = |kept: &mut Vec<u8>, bytes: &[u8]| {
            let room = limit - kept.len();
            truncated |= bytes.len() > room;
            kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        };
        loop {
            match self.next().await {
                Some(Said::Stdout(bytes)) => keep(&mut stdout, &bytes),
                Some(Said::Stderr(bytes)) => keep(&mut stderr, &bytes),
                Some(Said::Ended(ended)) => {
                    let ended = ended?;
                    truncated |= ended.truncated == Some(true);
                    return Ok(Output { stdout, stderr, truncated, ended });
                }
                None => return Err(Error::Unconfirmed),
            }
        }
    }
}

impl Stream for Command {
    type Item = Said;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Said>> {
        if let Some(early) = self.early.take() {
            return Poll::Ready(Some(early));
        }
        loop {
            let Some(call) = &mut self.call else { return Poll::Ready(None) };
            match ready!(call.poll_next_unpin(context)) {
                Some(Part::Stream(frame)) => {
                    if let Some(said) = said(&frame) {
                        return Poll::Ready(Some(said));
                    }
                }
                Some(Part::Outcome(outcome)) => {
                    self.call = None;
                    return Poll::Ready(Some(Said::Ended(ended(outcome))));
                }
                None => self.call = None,
            }
        }
    }
}

fn ended(outcome: Result<protocol::relay::RawJson, RelayError>) -> Outcome {
    outcome.and_then(|ended| ShellStart::result(&ended)).map_err(Error::outcome)
}

/// What a command wrote; none if it is something else.
fn said(frame: &StreamFrame) -> Option<Said> {
    let kind = match frame.event.as_str() {
        "stdout" => Said::Stdout,
        "stderr" => Said::Stderr,
        _ => return None,
    };
    let text: String = frame.data.read().ok()?;
    Some(kind(match frame.encoding {
        Some(Encoding::Base64) => BASE64_STANDARD.decode(text).ok()?,
        Some(Encoding::Utf8) | None => text.into_bytes(),
    }))
}
