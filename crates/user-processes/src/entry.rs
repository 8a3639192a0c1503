//! One process as the registry holds it.

use std::sync::OnceLock;

use bytes::Bytes;
use jiff::Timestamp;
use journal::Ring;
use parking_lot::Mutex;
use process::{Control, Screen, SendError, Size, Stdin};
use protocol::{
    ProcessId,
    processes::{ProcessExit, ProcessSignal, ProcessState, TerminalSize, UserProcess},
};
use tokio_util::sync::CancellationToken;

use crate::{Error, InvalidStart};

/// What a terminal takes for the end of the input.
const END_OF_TRANSMISSION: &[u8] = b"\x04";

pub(crate) struct Entry {
    pub(crate) id: ProcessId,
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) cwd: String,
    pub(crate) started_at: Timestamp,
    pub(crate) stdin: Stdin,
    pub(crate) control: Control,
    pub(crate) terminal: Option<Mutex<Terminal>>,
    pub(crate) ring: Ring,
    /// How it ended; set before its journal tells so.
    pub(crate) exit: OnceLock<ProcessExit>,
    /// Cancelled when it has ended and its journal is complete.
    pub(crate) ended: CancellationToken,
    /// Cancelled when it is being stopped: its readers are no longer waited for.
    pub(crate) stopping: CancellationToken,
}

pub(crate) struct Terminal {
    pub(crate) screen: Screen,
    pub(crate) size: TerminalSize,
}

impl Entry {
    pub(crate) fn describe(&self) -> UserProcess {
        let exit = self.exit.get().copied();
        UserProcess {
            id: self.id,
            command: self.command.clone(),
            args: self.args.clone(),
            cwd: self.cwd.clone(),
            terminal: self.terminal.as_ref().map(|terminal| terminal.lock().size),
            pid: self.control.pid(),
            state: if exit.is_some() { ProcessState::Exited } else { ProcessState::Running },
            started_at: self.started_at,
            exit,
        }
    }

    pub(crate) fn input(&self, bytes: Bytes) -> Result<(), Error> {
        self.running()?;
        if bytes.is_empty() {
            return Ok(());
        }
        self.stdin.try_send(bytes).map_err(|error| match error {
            SendError::Full => Error::Busy(self.id),
            // The queue is shut a moment before the end is told.
            SendError::Closed if self.exit.get().is_some() => Error::Ended(self.id),
            SendError::Closed => Error::InputClosed(self.id),
        })
    }

    pub(crate) fn close_input(&self) -> Result<(), Error> {
        if self.terminal.is_some() {
            return self.input(Bytes::from_static(END_OF_TRANSMISSION));
        }
        self.running()?;
        self.stdin.close();
        Ok(())
    }

    pub(crate) fn signal(&self, signal: ProcessSignal) -> Result<(), Error> {
        self.running()?;
        self.control.signal(number(signal)).map_err(|error| match error {
            process::Error::Exited => Error::Ended(self.id),
            error => Error::Refused(error),
        })
    }

    pub(crate) fn resize(&self, size: TerminalSize) -> Result<(), Error> {
        let terminal = self.terminal.as_ref().ok_or(Error::NoTerminal(self.id))?;
        if size.columns == 0 || size.rows == 0 {
            return Err(InvalidStart::Size.into());
        }
        self.running()?;
        let mut terminal = terminal.lock();
        terminal.screen.resize(Size { cols: size.columns, rows: size.rows }).map_err(Error::Refused)?;
        terminal.size = size;
        Ok(())
    }

    /// Ends it and everyone it has started, and waits until its journal is complete.
    pub(crate) async fn stop(&self) {
        self.stopping.cancel();
        self.control.stop().await;
        self.ended.cancelled().await;
    }

    fn running(&self) -> Result<(), Error> {
        match self.exit.get() {
            None => Ok(()),
            Some(_) => Err(Error::Ended(self.id)),
        }
    }
}

fn number(signal: ProcessSignal) -> process::Signal {
    match signal {
        ProcessSignal::Hup => process::Signal::HUP,
        ProcessSignal::Int => process::Signal::INT,
        ProcessSignal::Quit => process::Signal::QUIT,
        ProcessSignal::Term => process::Signal::TERM,
        ProcessSignal::Kill => process::Signal::KILL,
        ProcessSignal::Usr1 => process::Signal::USR1,
        ProcessSignal::Usr2 => process::Signal::USR2,
        ProcessSignal::Stop => process::Signal::STOP,
        ProcessSignal::Cont => process::Signal::CONT,
    }
}
