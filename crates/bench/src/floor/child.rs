//! A floor in a process of its own.

use std::{
    ffi::OsStr,
    io::{self, BufRead, BufReader},
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::{proc, server::tie};

/// A running floor.
#[derive(Debug)]
pub(crate) struct FloorServer {
    child: Child,
    address: SocketAddr,
}

impl FloorServer {
    /// Starts the floor that `args` name; `own` is this program.
    pub(crate) fn start<S: AsRef<OsStr>>(own: &Path, args: impl IntoIterator<Item = S>) -> io::Result<Self> {
        let mut command = Command::new(own);
        command.arg("floor").args(args).stdin(Stdio::null()).stdout(Stdio::piped());
        tie(&mut command);
        let mut child = command.spawn()?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let port = line.trim().parse().map_err(io::Error::other)?;
        Ok(Self { child, address: (Ipv4Addr::LOCALHOST, port).into() })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn cpu(&self) -> Duration {
        proc::cpu(self.child.id())
    }

    /// Waits until it has ended by itself.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.child.wait().map(|_| ())
    }
}

impl Drop for FloorServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
