//! The programs that a run measures, and how to start them.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use super::server_process::ServerProcess;

/// A measured server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemUnderTest {
    /// Our daemon.
    Ours,
    /// The other server that ours is compared with.
    Peer,
}

impl SystemUnderTest {
    /// The name of the system in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Peer => "peer",
        }
    }
}

/// The programs and settings of a run.
#[derive(Debug)]
pub struct BenchSetup {
    /// Our program, which is the daemon, the hub and the device.
    pub ours: PathBuf,
    /// The other server that ours is compared with.
    pub peer: Option<PathBuf>,
    /// The path below its home at which the other server looks for its mock agent.
    pub peer_agent: PathBuf,
    /// The program `bench-stub`.
    pub stub: PathBuf,
    /// The path of this program, which is started again to serve as a floor.
    pub own: PathBuf,
    /// Whether to run fewer and smaller rounds, so that a run takes about a minute.
    pub quick: bool,
    /// The directory for large files.
    pub dir: PathBuf,
}

impl BenchSetup {
    /// Returns the servers of this run, ours first.
    pub fn systems(&self) -> Vec<SystemUnderTest> {
        let peer = self.peer.as_ref().map(|_| SystemUnderTest::Peer);
        [Some(SystemUnderTest::Ours), peer].into_iter().flatten().collect()
    }

    /// Returns `full` in a full run and `quick` in a quick one.
    pub(crate) fn full_or_quick<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Starts a server with its default settings.
    pub(crate) fn start(&self, system: SystemUnderTest) -> io::Result<ServerProcess> {
        match system {
            SystemUnderTest::Ours => self.start_ours(&[]),
            SystemUnderTest::Peer => self.start_peer(),
        }
    }

    /// Starts our daemon with additional arguments. The stub is configured as the agent `mock`.
    pub(crate) fn start_ours(&self, args: &[&str]) -> io::Result<ServerProcess> {
        let home = TempDir::new()?;
        let config = home.path().join("config.toml");
        fs::write(&config, format!("[agents.mock]\ncommand = [{}]\n", serde_json::json!(self.stub)))?;
        let mut command = Command::new(&self.ours);
        command.args(["daemon", "--no-token", "--config"]).arg(config).args(args);
        ServerProcess::start(command, home)
    }

    fn start_peer(&self) -> io::Result<ServerProcess> {
        let Some(program) = &self.peer else { return Err(io::ErrorKind::NotFound.into()) };
        let home = TempDir::new()?;
        let agent = home.path().join(&self.peer_agent);
        fs::create_dir_all(agent.parent().unwrap_or(Path::new("/")))?;
        symlink(&self.stub, agent)?;
        let mut command = Command::new(program);
        command.args(["server", "--no-token"]);
        // Keep telemetry and downloads of the peer on this machine: nothing listens on port 9, so they fail at once.
        for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            command.env(proxy, "http://127.0.0.1:9");
        }
        ServerProcess::start(command, home)
    }
}
