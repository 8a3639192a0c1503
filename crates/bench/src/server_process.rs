//! A measured server: a child process with a temporary home directory, which is killed when the measurement ends.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::Signal;
use tempfile::TempDir;

use super::{
    clock,
    http::{self, HttpConnection, HttpResponse},
    json_rpc,
    kill_with_parent::kill_with_parent,
    proc,
};

/// The longest time until a new server answers its first request.
const START_MAX: Duration = Duration::from_secs(20);

/// The pause between two health requests to a starting server. It is short because it adds to the measured start
/// time.
const START_POLL: Duration = Duration::from_micros(50);

/// The read timeout of an ordinary request.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// A running server.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    /// Kept for [`ServerProcess::restart`].
    command: Command,
    child: Child,
    address: SocketAddr,
    started_in: Duration,
    home: TempDir,
}

impl ServerProcess {
    /// Starts `command` with `--host` and `--port` added, and waits until `/v1/health` returns 200.
    pub(crate) fn start(mut command: Command, home: TempDir) -> io::Result<Self> {
        // The kernel picks a free port. The listener is closed again at once, so another process could, in theory,
        // take the port before the server binds it. The server would then exit and the measurement would fail.
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        command.args(["--host", "127.0.0.1", "--port", &address.port().to_string()]);
        command.env("HOME", home.path()).current_dir(home.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        kill_with_parent(&mut command);
        let started = Instant::now();
        let child = command.spawn()?;
        let mut server = Self { command, child, address, started_in: Duration::ZERO, home };
        server.wait_until_healthy(started)?;
        Ok(server)
    }

    /// Sends `signal` to the server, waits for its exit and starts it again with the same home and address.
    pub(crate) fn restart(&mut self, signal: Signal, timeout: Duration) -> io::Result<()> {
        self.signal_and_wait(signal, timeout).ok_or_else(|| io::Error::other("the server did not end"))?;
        let started = Instant::now();
        self.child = self.command.spawn()?;
        self.wait_until_healthy(started)
    }

    /// Waits until the server is healthy and stores the time since `started`.
    fn wait_until_healthy(&mut self, started: Instant) -> io::Result<()> {
        let health = http::request("GET", "/v1/health", "");
        while !http::request_once(self.address, &health, READ_TIMEOUT)
            .is_ok_and(|response| response.status == 200)
        {
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

    pub(crate) fn connect(&self) -> io::Result<HttpConnection> {
        HttpConnection::open(self.address)?.with_read_timeout(READ_TIMEOUT)
    }

    pub(crate) fn request(&self, request: &[u8]) -> io::Result<HttpResponse> {
        self.connect()?.request(request)
    }

    /// Starts the stub as the agent instance `id` of this server.
    pub(crate) fn start_instance(&self, id: &str) -> io::Result<()> {
        let response = self.request(&http::post(
            &format!("/v1/acp/{id}?agent=mock"),
            &json_rpc::request(1, "initialize", "{}"),
        ))?;
        match response.status {
            200 => Ok(()),
            status => Err(io::Error::other(format!("{status}: {}", String::from_utf8_lossy(&response.body)))),
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

    /// Sends a signal and returns the time until the server exited, or `None` if it still runs after `timeout`.
    pub(crate) fn signal_and_wait(&mut self, signal: Signal, timeout: Duration) -> Option<Duration> {
        let started = Instant::now();
        let pid = i32::try_from(self.pid()).ok().and_then(rustix::process::Pid::from_raw)?;
        rustix::process::kill_process(pid, signal).ok()?;
        while started.elapsed() < timeout {
            if self.child.try_wait().ok()?.is_some() {
                return Some(started.elapsed());
            }
            clock::pause(Duration::from_millis(1));
        }
        None
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
