//! A floor that runs as a child process.

use std::{
    ffi::OsStr,
    io::{self, BufRead, BufReader},
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::{kill_with_parent::kill_with_parent, proc};

/// A running floor. Dropping this kills the process.
#[derive(Debug)]
pub(crate) struct FloorServer {
    child: Child,
    address: SocketAddr,
}

impl FloorServer {
    /// Starts this program, whose path is `own`, as the floor that `args` name, and reads its port.
    pub(crate) fn start<S: AsRef<OsStr>>(own: &Path, args: impl IntoIterator<Item = S>) -> io::Result<Self> {
        let mut command = Command::new(own);
        command.arg("floor").args(args).stdin(Stdio::null()).stdout(Stdio::piped());
        kill_with_parent(&mut command);
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

    /// The user and system CPU time of the floor so far, in steps of 10 ms.
    pub(crate) fn cpu(&self) -> Duration {
        proc::cpu(self.child.id())
    }

    /// Waits until the floor exits by itself.
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
