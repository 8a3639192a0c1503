//! A child on a pseudo-terminal.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::child_command::ChildStdio;
use crate::output_source::OutputSource;
use crate::spawn::{InputSink, SpawnedChild};
use crate::{Error, OutputReader, ProcessControl, ProcessSpec, ProcessStdin};

/// A child on a pseudo-terminal, split into parts that can have different owners.
#[derive(Debug)]
pub struct PtyProcess {
    /// The terminal's input.
    pub stdin: ProcessStdin,
    /// The terminal's output; all of it is [`ChildStream::Stdout`](crate::ChildStream::Stdout).
    pub outputs: OutputReader,
    /// Changes the terminal's size.
    pub resizer: PtyResizer,
    /// Signals, stops and awaits the child.
    pub control: ProcessControl,
}

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PtySize {
    /// Columns.
    pub cols: u16,
    /// Lines.
    pub rows: u16,
}

/// Changes the size of a terminal.
#[derive(Debug, Clone)]
pub struct PtyResizer {
    master: Arc<OwnedFd>,
}

impl PtyResizer {
    /// Changes the size; the child gets `SIGWINCH`.
    ///
    /// # Errors
    /// [`Error::Refused`] when the terminal is gone.
    pub fn resize(&self, size: PtySize) -> Result<(), Error> {
        resize(&self.master, size)
            .map_err(|source| Error::Refused { action: "resize the terminal of", source })
    }
}

/// Starts a child on a pseudo-terminal, as the leader of a session of its own. `TERM` is `xterm-256color` unless the
/// [`ProcessSpec`] sets it. Stopping it starts with SIGHUP, as when a terminal window is closed.
///
/// # Errors
/// [`Error::Spawn`] with the reason.
pub async fn spawn_pty(spec: &ProcessSpec, size: PtySize) -> Result<PtyProcess, Error> {
    start(spec, size).await.map_err(|source| Error::spawn(spec, source))
}

async fn start(spec: &ProcessSpec, size: PtySize) -> io::Result<PtyProcess> {
    let (master, slave) = open_pair(size)?;
    let child = SpawnedChild::spawn(spec, ChildStdio::Terminal(slave)).await?;
    let source = OutputSource::terminal(master.try_clone()?, child.life.clone())?;
    let outputs = child.outputs(source, None);
    let (stdin, control) = child.supervise(spec, InputSink::Terminal(master.try_clone()?), None)?;
    Ok(PtyProcess { stdin, outputs, resizer: PtyResizer { master: Arc::new(master) }, control })
}

fn open_pair(size: PtySize) -> io::Result<(OwnedFd, OwnedFd)> {
    #[cfg(target_os = "linux")]
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let master = openpt(flags)?;
    #[cfg(not(target_os = "linux"))]
    rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let slave = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    resize(&master, size)?;
    Ok((master, slave))
}

fn resize(master: &OwnedFd, PtySize { cols, rows }: PtySize) -> io::Result<()> {
    Ok(tcsetwinsize(master, Winsize { ws_col: cols, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 })?)
}
