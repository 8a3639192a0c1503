//! What can be said to a command that runs.

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use process::{PtySize, StdinSendError};
use protocol::relay::{
    Encoding, RelayError,
    shell::{CommandInput, Signal},
};
use tracing::warn;

use super::{command::Command, refusal, signal};

/// What a terminal takes for the end of the input, at the beginning of a line.
const END_OF_TRANSMISSION: &[u8] = b"\x04";

impl Command {
    /// Writes to what it reads, and closes that if nothing follows.
    pub(super) fn input(&self, input: &CommandInput) -> Result<(), RelayError> {
        let data = match input.encoding {
            Some(Encoding::Base64) => BASE64_STANDARD
                .decode(&input.data)
                .map_err(|_| refusal::invalid("`data` is not valid base64, although `encoding` says so"))?,
            None | Some(Encoding::Utf8) => input.data.clone().into_bytes(),
        };
        self.running()?;
        // An empty message tells too whether anybody could read.
        self.write(data.into())?;
        match (input.eof, &self.screen) {
            (true, None) => self.stdin.close(),
            (true, Some(_)) => self.write(Bytes::from_static(END_OF_TRANSMISSION))?,
            (false, _) => {}
        }
        Ok(())
    }

    fn write(&self, data: Bytes) -> Result<(), RelayError> {
        self.stdin.try_send(data).map_err(|error| match error {
            StdinSendError::Full => refusal::busy("the command is not reading its input; try again later"),
            // Its input is closed a moment before its end is told.
            StdinSendError::Closed if self.control.exit().is_some() => self.gone(),
            StdinSendError::Closed => {
                refusal::missing(&self.id, "stdin_closed", "the command's input is closed")
            }
        })
    }

    /// Changes the size of its terminal.
    pub(super) fn resize(&self, cols: u16, rows: u16) -> Result<(), RelayError> {
        let Some(screen) = &self.screen else {
            return Err(refusal::invalid("the command has no terminal").with("command_id", self.id.as_str()));
        };
        if cols == 0 || rows == 0 {
            return Err(refusal::invalid("a terminal needs at least one column and one row"));
        }
        self.running()?;
        screen.resize(PtySize { cols, rows }).map_err(|error| self.refused(&error))
    }

    /// Sends a signal to it and to whoever is in its group.
    pub(super) fn signal(&self, signal: &Signal) -> Result<(), RelayError> {
        let signal = signal::find(signal).ok_or_else(|| refusal::invalid("unknown signal"))?;
        self.running()?;
        self.control.signal(signal).map_err(|error| self.refused(&error))
    }

    fn refused(&self, error: &process::Error) -> RelayError {
        match error {
            process::Error::Exited => self.gone(),
            error => {
                warn!(error = %protocol::ErrorChain(error), "could not write to or signal a command");
                refusal::failed("the system refused")
            }
        }
    }
}
