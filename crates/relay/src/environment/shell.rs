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

/// The timeout of a command that sets none. The device may enforce a shorter one.
const RUNTIME_MAX: Duration = Duration::from_secs(24 * 3600);

/// How much longer this side waits than the device, so that the timeout is reported by the device.
const PATIENCE: Duration = Duration::from_secs(20);

/// The size of one write to a command. Encoded as base64, it fits in one message.
const INPUT_BYTES_MAX: usize = 128 << 10;

/// Runs and controls commands.
#[async_trait]
pub trait Shell: Send + Sync {
    /// Starts a command and waits until it is running. Without a `cwd` it runs in the first root.
    ///
    /// # Errors
    /// If it cannot be started.
    async fn start(&self, command: StartCommand) -> Result<Command, Error>;

    /// Runs a command to its end, and collects at most `limit` bytes of each output.
    ///
    /// # Errors
    /// If it cannot be started, or takes too long: [`Error::ShellTimeout`].
    async fn run(&self, command: StartCommand, limit: usize) -> Result<Output, Error>;

    /// Writes to the standard input of a command.
    ///
    /// # Errors
    /// If the command has ended, or its input is closed.
    async fn input(&self, command_id: &str, bytes: &[u8]) -> Result<(), Error>;

    /// Closes the standard input of a command.
    ///
    /// # Errors
    /// If the command has ended, or its input is closed.
    async fn end_input(&self, command_id: &str) -> Result<(), Error>;

    /// Changes the size of the terminal of a command.
    ///
    /// # Errors
    /// If the command has ended, or has no terminal.
    async fn resize(&self, command_id: &str, size: TerminalDimensions) -> Result<(), Error>;

    /// Sends a signal to a command.
    ///
    /// # Errors
    /// If the command has ended.
    async fn signal(&self, command_id: &str, signal: Signal) -> Result<(), Error>;

    /// Stops a command and all processes that it started.
    ///
    /// # Errors
    /// If the command has ended.
    async fn cancel(&self, command_id: &str, reason: Option<&str>) -> Result<(), Error>;

    /// The state of a command; with `drain` also its output since the last call.
    ///
    /// # Errors
    /// If the command is no longer known.
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

/// The outcome of a command.
type Outcome = Result<CommandOutcome, Error>;
