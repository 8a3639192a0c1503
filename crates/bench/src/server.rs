//! A server that is measured: started for it, with a home of its own, gone afterwards.

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

/// How long a server may take to come up.
const START_MAX: Duration = Duration::from_secs(20);

/// How often a server that comes up is asked whether it is there.
const START_POLL: Duration = Duration::from_micros(50);

/// How long an ordinary request may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running server.
#[derive(Debug)]
pub(crate) struct Server {
    /// How it is started.
    command: Command,
    child: Child,
    address: SocketAddr,
    started_in: Duration,
    home: TempDir,
}

impl Server {
    /// Starts `command` with `--host` and `--port` added, and waits for its first 200 on `/v1/health`.
    pub(crate) fn start(mut command: Command, home: TempDir) -> io::Result<Self> {
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

    /// Ends it by `signal` and starts it again in the same home, at the same address.
    pub(crate) fn restart(&mut self, signal: Signal, patience: Duration) -> io::Result<()> {
        self.signal(signal, patience).ok_or_else(|| io::Error::other("the server did not end"))?;
        let started = Instant::now();
        self.child = self.command.spawn()?;
        self.come_up(started)
    }

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

    /// How long it took from its start to its first 200.
    pub(crate) fn started_in(&self) -> Duration {
        self.started_in
    }

    /// A directory of its own.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn connect(&self) -> io::Result<Connection> {
        Connection::open(self.address)?.patience(PATIENCE)
    }

    pub(crate) fn ask(&self, request: &[u8]) -> io::Result<Answer> {
        self.connect()?.ask(request)
    }

    /// Starts the stub behind it as the instance `id`.
    pub(crate) fn instance(&self, id: &str) -> io::Result<()> {
        let answer =
            self.ask(&http::post(&format!("/v1/acp/{id}?agent=mock"), &message(1, "initialize", "{}")))?;
        match answer.status {
            200 => Ok(()),
            status => Err(io::Error::other(format!("{status}: {}", String::from_utf8_lossy(&answer.body)))),
        }
    }

    pub(crate) fn cpu(&self) -> Duration {
        proc::cpu(self.pid())
    }

    pub(crate) fn rss_kib(&self) -> u64 {
        proc::rss_kib(self.pid())
    }

    /// Sends a signal and waits for the end, which it may refuse; how long that took.
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

/// A JSON-RPC request.
pub(crate) fn message(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// Lets a child die with the thread that starts it, however that ends.
#[expect(unsafe_code, reason = "what runs between fork and exec has no safe interface")]
pub(crate) fn tie(command: &mut Command) {
    let tied = || Ok(set_parent_process_death_signal(Some(Signal::KILL))?);
    // SAFETY: the closure makes one system call and allocates nothing.
    unsafe {
        command.pre_exec(tied);
    }
}
