//! One process in the table.

use std::sync::OnceLock;

use bytes::Bytes;
use jiff::Timestamp;
use journal::RingJournal;
use parking_lot::Mutex;
use process::{ProcessControl, ProcessStdin, PtyResizer, PtySize, StdinSendError};
use protocol::{
    ProcessId,
    processes::{ProcessExit, ProcessSignal, ProcessState, TerminalSize, UserProcess},
};
use tokio_util::sync::CancellationToken;

use crate::{Error, InvalidStart};

/// Ctrl-D, which a terminal interprets as the end of the input.
const END_OF_TRANSMISSION: &[u8] = b"\x04";

pub(crate) struct ProcessEntry {
    pub(crate) id: ProcessId,
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) cwd: String,
    pub(crate) started_at: Timestamp,
    pub(crate) stdin: ProcessStdin,
    pub(crate) control: ProcessControl,
    pub(crate) terminal: Option<Mutex<TerminalState>>,
    pub(crate) ring: RingJournal,
    /// How it exited; set before the journal contains the exit.
    pub(crate) exit: OnceLock<ProcessExit>,
    /// Cancelled when it has exited and its journal is complete.
    pub(crate) ended: CancellationToken,
    /// Cancelled when it is being stopped; from then on the recorder no longer waits for readers.
    pub(crate) stopping: CancellationToken,
}

pub(crate) struct TerminalState {
    pub(crate) resizer: PtyResizer,
    pub(crate) size: TerminalSize,
}

impl ProcessEntry {
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

    pub(crate) fn send_input(&self, bytes: Bytes) -> Result<(), Error> {
        self.require_running()?;
        if bytes.is_empty() {
            return Ok(());
        }
        self.stdin.try_send(bytes).map_err(|error| match error {
            StdinSendError::Full => Error::Busy(self.id),
            // The queue is closed a moment before the exit is set, so check that again.
            StdinSendError::Closed if self.exit.get().is_some() => Error::Ended(self.id),
            StdinSendError::Closed => Error::InputClosed(self.id),
        })
    }

    pub(crate) fn close_input(&self) -> Result<(), Error> {
        if self.terminal.is_some() {
            return self.send_input(Bytes::from_static(END_OF_TRANSMISSION));
        }
        self.require_running()?;
        self.stdin.close();
        Ok(())
    }

    pub(crate) fn signal(&self, signal: ProcessSignal) -> Result<(), Error> {
        self.require_running()?;
        self.control.signal(to_signal(signal)).map_err(|error| match error {
            process::Error::Exited => Error::Ended(self.id),
            error => Error::Refused(error),
        })
    }

    pub(crate) fn resize(&self, size: TerminalSize) -> Result<(), Error> {
        let terminal = self.terminal.as_ref().ok_or(Error::NoTerminal(self.id))?;
        if size.columns == 0 || size.rows == 0 {
            return Err(InvalidStart::Size.into());
        }
        self.require_running()?;
        let mut terminal = terminal.lock();
        terminal.resizer.resize(PtySize { cols: size.columns, rows: size.rows }).map_err(Error::Refused)?;
        terminal.size = size;
        Ok(())
    }

    /// Stops it with all its descendants, and waits until its journal is complete.
    pub(crate) async fn stop(&self) {
        self.stopping.cancel();
        self.control.stop().await;
        self.ended.cancelled().await;
    }

    fn require_running(&self) -> Result<(), Error> {
        if self.exit.get().is_some() { Err(Error::Ended(self.id)) } else { Ok(()) }
    }
}

fn to_signal(signal: ProcessSignal) -> process::Signal {
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
