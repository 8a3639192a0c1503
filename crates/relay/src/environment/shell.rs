//! The commands of an environment.

mod command;
mod pipe;

use std::time::Duration;

use async_trait::async_trait;
use base64::{Engine, prelude::BASE64_STANDARD};
use protocol::relay::{
    Encoding,
    method::{ShellCancel, ShellInput, ShellResize, ShellSignal, ShellStart, ShellStatus},
    shell::{
        CancelCommand, CommandInput, CommandOutcome, CommandStatus, InspectCommand, ResizeCommand, Signal,
        SignalCommand, StartCommand, TerminalDimensions,
    },
};

pub use command::{Command, Output, Said};
pub use pipe::{Pipe, split};

use super::{Environment, Error, binding};

/// How long a command may take that says nothing else; the device may allow less.
const RUNTIME_MAX: Duration = Duration::from_secs(24 * 3600);

/// How much later than the device this side gives up, so that the device tells of it.
const PATIENCE: Duration = Duration::from_secs(20);

/// How much is written to a command at once: in base64 it fits in one message.
const INPUT_BYTES_MAX: usize = 128 << 10;

/// What can be done with commands.
#[async_trait]
pub trait Shell: Send + Sync {
    /// Starts a command, and returns once it runs. Without a `cwd` it runs in the first root.
    ///
    /// # Errors
    /// If it does not run.
    async fn start(&self, command: StartCommand) -> Result<Command, Error>;

    /// Runs a command to its end; at most `limit` bytes of each of its outputs are kept.
    ///
    /// # Errors
    /// If it does not run, or takes too long: [`Error::ShellTimeout`].
    async fn run(&self, command: StartCommand, limit: usize) -> Result<Output, Error>;

    /// Writes to a command.
    ///
    /// # Errors
    /// If it has ended, or its input has.
    async fn input(&self, command_id: &str, bytes: &[u8]) -> Result<(), Error>;

    /// Ends the input of a command.
    ///
    /// # Errors
    /// If it has ended, or its input has.
    async fn end_input(&self, command_id: &str) -> Result<(), Error>;

    /// Changes the size of its terminal.
    ///
    /// # Errors
    /// If it has ended, or has none.
    async fn resize(&self, command_id: &str, size: TerminalDimensions) -> Result<(), Error>;

    /// Sends it a signal.
    ///
    /// # Errors
    /// If it has ended.
    async fn signal(&self, command_id: &str, signal: Signal) -> Result<(), Error>;

    /// Ends it, and all that it started.
    ///
    /// # Errors
    /// If it has ended.
    async fn cancel(&self, command_id: &str, reason: Option<&str>) -> Result<(), Error>;

    /// How it is; with `drain` also what it has written since the last time.
    ///
    /// # Errors
    /// If nobody knows it any more.
    async fn status(&self, command_id: &str, drain: bool) -> Result<CommandStatus, Error>;
}

/// The commands of an environment.
#[derive(Debug, Clone)]
pub struct Commands(pub(super) Environment);

#[async_trait]
impl Shell for Commands {
    async fn start(&self, mut command: StartCommand) -> Result<Command, Error> {
        if command.cwd.is_none() {
            command.cwd = binding::home(self.0.binding()).cloned();
        }
        let runtime = command.timeout_ms.map_or(RUNTIME_MAX, Duration::from_millis);
        let call = self.0.start::<ShellStart>(&command, Some(runtime.saturating_add(PATIENCE))).await;
        Command::begin(self.clone(), call).await
    }

    async fn run(&self, command: StartCommand, limit: usize) -> Result<Output, Error> {
        self.start(command).await?.output(limit).await
    }

    async fn input(&self, command_id: &str, bytes: &[u8]) -> Result<(), Error> {
        for piece in bytes.chunks(INPUT_BYTES_MAX) {
            let (data, encoding) = match std::str::from_utf8(piece) {
                Ok(text) => (text.to_owned(), None),
                Err(_) => (BASE64_STANDARD.encode(piece), Some(Encoding::Base64)),
            };
            let params = CommandInput { command_id: command_id.into(), data, encoding, eof: false };
            self.0.ask::<ShellInput>(&params).await.map_err(Error::command)?;
        }
        Ok(())
    }

    async fn end_input(&self, command_id: &str) -> Result<(), Error> {
        let params = CommandInput { command_id: command_id.into(), eof: true, ..CommandInput::default() };
        self.0.ask::<ShellInput>(&params).await.map_err(Error::command)?;
        Ok(())
    }

    async fn resize(
        &self,
        command_id: &str,
        TerminalDimensions { cols, rows }: TerminalDimensions,
    ) -> Result<(), Error> {
        let params = ResizeCommand { command_id: command_id.into(), cols, rows };
        self.0.ask::<ShellResize>(&params).await.map_err(Error::command)?;
        Ok(())
    }

    async fn signal(&self, command_id: &str, signal: Signal) -> Result<(), Error> {
        let params = SignalCommand { command_id: command_id.into(), signal };
        self.0.ask::<ShellSignal>(&params).await.map_err(Error::command)?;
        Ok(())
    }

    async fn cancel(&self, command_id: &str, reason: Option<&str>) -> Result<(), Error> {
        let params = CancelCommand { command_id: command_id.into(), reason: reason.map(str::to_owned) };
        self.0.ask::<ShellCancel>(&params).await.map_err(Error::command)?;
        Ok(())
    }

    async fn status(&self, command_id: &str, drain: bool) -> Result<CommandStatus, Error> {
        let params = InspectCommand { command_id: command_id.into(), drain };
        self.0.ask::<ShellStatus>(&params).await.map_err(Error::command)
    }
}

/// What a command has come to.
type Outcome = Result<CommandOutcome, Error>;
