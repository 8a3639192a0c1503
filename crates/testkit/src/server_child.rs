//! The child process of a test server: a daemon or a hub.

use std::{
    io::{BufRead, BufReader},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    time::Duration,
};

use crate::{stderr_capture::StderrCapture, within_blocking};

/// How long a server may take to stop before the test fails.
const STOP_MAX: Duration = Duration::from_secs(15);

/// A running server, killed when this value is dropped.
#[derive(Debug)]
pub(crate) struct ServerChild {
    child: Child,
    base: String,
    /// `None` if the stderr of the server is not a pipe.
    stderr: Option<StderrCapture>,
}

impl ServerChild {
    /// Starts the process and waits for the line that announces its address. Also returns the rest of its stdout.
    ///
    /// # Panics
    /// If the server ends or prints another line first.
    pub(crate) fn start(command: &mut Command) -> (Self, BufReader<ChildStdout>) {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("could not start the program");
        let stderr = child.stderr.take().map(StderrCapture::start);
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("could not read the address from stdout");
        let Some(base) = line.trim().strip_prefix("listening on ") else {
            let log = stderr.map(StderrCapture::finish).unwrap_or_default();
            panic!("the server did not start: {line}{log}");
        };
        (Self { child, base: base.to_owned(), stderr }, stdout)
    }

    /// The base URL that the server announced, such as `http://127.0.0.1:1234`.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal by name, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.pid().to_string()).status();
        assert!(sent.expect("could not run kill").success());
    }

    /// Kills the server with SIGKILL, as a crash would, and waits until it has ended.
    pub(crate) fn kill(&mut self) {
        // Both fail harmlessly if the server has already ended. Without `wait` it would stay a zombie.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits until the server has ended by itself. Returns its status, and its stderr if that is a pipe.
    pub(crate) fn wait_for_exit(&mut self) -> (ExitStatus, String) {
        let mut exited = None;
        within_blocking(STOP_MAX, || {
            exited = self.child.try_wait().expect("could not wait for the server");
            exited.is_some()
        });
        let log = self.stderr.take().map(StderrCapture::finish).unwrap_or_default();
        (exited.expect("the server has ended"), log)
    }
}

impl Drop for ServerChild {
    fn drop(&mut self) {
        self.kill();
    }
}
