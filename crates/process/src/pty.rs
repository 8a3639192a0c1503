//! A child on a terminal of its own.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::birth::Wiring;
use crate::outlet::Outlet;
use crate::spawn::{Inlet, Started};
use crate::{Control, Error, Outputs, Spec, Stdin};

/// A child on a terminal, split so that each part can have its own owner.
#[derive(Debug)]
pub struct Pty {
    /// What is typed.
    pub stdin: Stdin,
    /// What is shown: all of it is [`Stream::Stdout`](crate::Stream::Stdout).
    pub outputs: Outputs,
    /// What it is shown on.
    pub screen: Screen,
    /// How the child is ended, and how it ended.
    pub control: Control,
}

/// How much the terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Its width in characters.
    pub cols: u16,
    /// Its height in lines.
    pub rows: u16,
}

/// The terminal's screen.
#[derive(Debug, Clone)]
pub struct Screen {
    master: Arc<OwnedFd>,
}

impl Screen {
    /// Changes its size; the child is told by `SIGWINCH`.
    ///
    /// # Errors
    /// [`Error::Refused`] when the system has taken the terminal away.
    pub fn resize(&self, size: Size) -> Result<(), Error> {
        resize(&self.master, size)
            .map_err(|source| Error::Refused { action: "resize the terminal of", source })
    }
}

/// Starts a child on a terminal, as the leader of a session of its own. `TERM` is `xterm-256color` unless the
/// [`Spec`] says otherwise. To stop it, it is hung up rather than closed.
///
/// # Errors
/// [`Error::Spawn`], which says in words what is in the way.
pub async fn spawn_pty(spec: &Spec, size: Size) -> Result<Pty, Error> {
    start(spec, size).await.map_err(|source| Error::spawn(spec, source))
}

async fn start(spec: &Spec, size: Size) -> io::Result<Pty> {
    let (master, slave) = open_pair(size)?;
    let started = Started::new(spec, Wiring::Terminal(slave)).await?;
    let outlet = Outlet::terminal(master.try_clone()?, started.life.clone())?;
    let outputs = started.outputs(outlet, None);
    let (stdin, control) = started.supervise(spec, Inlet::Terminal(master.try_clone()?), None)?;
    Ok(Pty { stdin, outputs, screen: Screen { master: Arc::new(master) }, control })
}

fn open_pair(size: Size) -> io::Result<(OwnedFd, OwnedFd)> {
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

fn resize(master: &OwnedFd, Size { cols, rows }: Size) -> io::Result<()> {
    Ok(tcsetwinsize(master, Winsize { ws_col: cols, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 })?)
}
