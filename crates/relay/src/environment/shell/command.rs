//! A running command.

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

/// A running command: a stream of its output, ending with its outcome. Dropping it before that stops the command.
#[derive(Debug)]
pub struct Command {
    shell: Commands,
    id: String,
    /// Output that arrived before the command was reported as running.
    early: Option<Said>,
    call: Option<Call>,
}

/// An event of a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// Bytes of its standard output, or of its terminal.
    Stdout(Vec<u8>),
    /// Bytes of its standard error.
    Stderr(Vec<u8>),
    /// Its outcome; nothing follows.
    Ended(Outcome),
}

/// The collected output and the outcome of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The start of its standard output.
    pub stdout: Vec<u8>,
    /// The start of its standard error.
    pub stderr: Vec<u8>,
    /// Whether either output was longer than the limit, or than the device sent.
    pub truncated: bool,
    /// The outcome.
    pub ended: CommandOutcome,
}

impl Command {
    /// Waits until the command is running or has ended.
    pub(super) async fn begin(shell: Commands, mut call: Call) -> Result<Self, Error> {
        loop {
            let (id, early) = match call.next().await {
                Some(Part::Stream(frame)) => match frame.data.read::<CommandStarted>() {
                    Ok(CommandStarted { command_id }) if frame.event == "status" => (command_id, None),
                    // Not every device reports the id of the command; then it is that of the request.
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

    /// Its id, with which other requests can refer to it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Writes to its standard input.
    ///
    /// # Errors
    /// If it has ended, or its input is closed.
    pub async fn input(&self, bytes: &[u8]) -> Result<(), Error> {
        self.shell.input(&self.id, bytes).await
    }

    /// Closes its standard input.
    ///
    /// # Errors
    /// If it has ended, or its input is closed.
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

    /// Waits for its outcome, and discards its output.
    ///
    /// # Errors
    /// If it took too long, or its end cannot be confirmed.
    pub async fn wait(mut self) -> Outcome {
        loop {
            match self.next().await {
                Some(Said::Ended(ended)) => return ended,
                Some(_) => {}
                None => return Err(Error::Unconfirmed),
            }
        }
    }

    /// Stops it and all processes that it started, and waits until they have ended.
    ///
    /// # Errors
    /// [`Error::Unconfirmed`] if that cannot be confirmed, or another error after which they may still be running.
    pub async fn kill(self) -> Result<(), Error> {
        match self.shell.cancel(&self.id, Some("killed")).await {
            // It may have ended already.
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

    /// Waits for its outcome, and collects at most `limit` bytes of each output.
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

/// The output in a chunk; `None` if the chunk is something else.
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
