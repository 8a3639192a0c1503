//! A measured server: a child process with a temporary home directory, which is killed when the measurement ends.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Signal, set_parent_process_death_signal};
use tempfile::TempDir;

use super::{
    clock, http,
    http::{Answer, Connection},
    proc,
};

/// The longest time until a new server answers its first request.
const START_MAX: Duration = Duration::from_secs(20);

/// The pause between two health requests to a starting server. It is short because it adds to the measured start
/// time.
const START_POLL: Duration = Duration::from_micros(50);

/// The read timeout of an ordinary request.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    /// Kept for [`Server::restart`].
    command: Command,
    child: Child,
    address: SocketAddr,
    started_in: Duration,
    home: TempDir,
}

impl Server {
    /// Starts `command` with `--host` and `--port` added, and waits until `/v1/health` returns 200.
    pub(crate) fn start(mut command: Command, home: TempDir) -> io::Result<Self> {
        // The kernel picks a free port. The listener is closed again at once, so another process could, in theory,
        // take the port before the server binds it. The server would then exit and the measurement would fail.
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        command.args(["--host", "127.0.0.1", "--port", &address.port().to_string()]);
        command.env("HOME", home.path()).current_dir(home.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        tie(&mut command);
        let started = Instant::now();
        let child = command.spawn()?;
        let mut server = Self { command, child, address, started_in: Duration::ZERO, home };
        server.come_up(started)?;
        Ok(server)
    }

    /// Sends `signal` to the server, waits for its exit and starts it again with the same home and address.
    pub(crate) fn restart(&mut self, signal: Signal, patience: Duration) -> io::Result<()> {
        self.signal(signal, patience).ok_or_else(|| io::Error::other("the server did not end"))?;
        let started = Instant::now();
        self.child = self.command.spawn()?;
        self.come_up(started)
    }

    /// Waits until the server is healthy and stores the time since `started`.
    fn come_up(&mut self, started: Instant) -> io::Result<()> {
        let health = http::request("GET", "/v1/health", "");
        while !http::once(self.address, &health, PATIENCE).is_ok_and(|answer| answer.status == 200) {
            if started.elapsed() > START_MAX || self.child.try_wait()?.is_some() {
                return Err(io::Error::other("the server did not come up"));
            }
            clock::pause(START_POLL);
        }
        self.started_in = started.elapsed();
        Ok(())
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The time from the start of the process to the first 200 from `/v1/health`.
    pub(crate) fn started_in(&self) -> Duration {
        self.started_in
    }

    /// The temporary home directory of the server.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn connect(&self) -> io::Result<Connection> {
        Connection::open(self.address)?.patience(PATIENCE)
    }

    pub(crate) fn ask(&self, request: &[u8]) -> io::Result<Answer> {
        self.connect()?.ask(request)
    }

    /// Starts the stub as the agent instance `id` of this server.
    pub(crate) fn instance(&self, id: &str) -> io::Result<()> {
        let answer =
            self.ask(&http::post(&format!("/v1/acp/{id}?agent=mock"), &message(1, "initialize", "{}")))?;
        match answer.status {
            200 => Ok(()),
            status => Err(io::Error::other(format!("{status}: {}", String::from_utf8_lossy(&answer.body)))),
        }
    }

    /// The user and system CPU time of the server so far, without that of its agents.
    ///
    /// The kernel reports it in steps of 10 ms, so callers compare it before and after a whole load, never around a
    /// single request.
    pub(crate) fn cpu(&self) -> Duration {
        proc::cpu(self.pid())
    }

    /// The resident memory of the server, without that of its agents.
    pub(crate) fn rss_kib(&self) -> u64 {
        proc::rss_kib(self.pid())
    }

    /// Sends a signal and returns the time until the server exited, or `None` if it still runs after `patience`.
    pub(crate) fn signal(&mut self, signal: Signal, patience: Duration) -> Option<Duration> {
        let started = Instant::now();
        let pid = i32::try_from(self.pid()).ok().and_then(rustix::process::Pid::from_raw)?;
        rustix::process::kill_process(pid, signal).ok()?;
        while started.elapsed() < patience {
            if self.child.try_wait().ok()?.is_some() {
                return Some(started.elapsed());
            }
            clock::pause(Duration::from_millis(1));
        }
        None
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Formats a JSON-RPC request.
pub(crate) fn message(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// Makes the kernel kill the child when its parent ends, even if the parent crashes.
///
/// The kernel's rule is about the parent *thread*: a child that is started on a short-lived thread dies with that
/// thread.
#[expect(unsafe_code, reason = "what runs between fork and exec has no safe interface")]
pub(crate) fn tie(command: &mut Command) {
    let tied = || Ok(set_parent_process_death_signal(Some(Signal::KILL))?);
    // SAFETY: the closure makes one system call and allocates nothing.
    unsafe {
        command.pre_exec(tied);
    }
}
