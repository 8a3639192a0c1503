//! What is measured, and how to start it.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use super::server::Server;

/// A server, or what it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// Our daemon.
    Ours,
    /// The server that it is compared with.
    Peer,
}

impl Subject {
    /// Its name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Peer => "peer",
        }
    }
}

/// The programs of a run.
#[derive(Debug)]
pub struct Lab {
    /// Our daemon.
    pub ours: PathBuf,
    /// The server that it is compared with.
    pub peer: Option<PathBuf>,
    /// Where that server looks for its mock agent, below its home.
    pub peer_agent: PathBuf,
    /// The stub agent.
    pub stub: PathBuf,
    /// This program, which also holds the floors.
    pub own: PathBuf,
    /// Whether to measure less, to be done in a minute.
    pub quick: bool,
    /// Where large files are written.
    pub dir: PathBuf,
}

impl Lab {
    /// The servers of this run, ours first.
    pub fn subjects(&self) -> Vec<Subject> {
        let peer = self.peer.as_ref().map(|_| Subject::Peer);
        [Some(Subject::Ours), peer].into_iter().flatten().collect()
    }

    /// `full` in a full run, `quick` in a quick one.
    pub(crate) fn size<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Starts a server as it comes.
    pub(crate) fn start(&self, subject: Subject) -> io::Result<Server> {
        match subject {
            Subject::Ours => self.start_ours(&[]),
            Subject::Peer => self.start_peer(),
        }
    }

    /// Starts our daemon with more arguments; the stub is its agent `mock`.
    pub(crate) fn start_ours(&self, args: &[&str]) -> io::Result<Server> {
        let home = TempDir::new()?;
        let config = home.path().join("config.toml");
        fs::write(&config, format!("[agents.mock]\ncommand = [{}]\n", serde_json::json!(self.stub)))?;
        let mut command = Command::new(&self.ours);
        command.args(["daemon", "--no-token", "--config"]).arg(config).args(args);
        Server::start(command, home)
    }

    fn start_peer(&self) -> io::Result<Server> {
        let Some(program) = &self.peer else { return Err(io::ErrorKind::NotFound.into()) };
        let home = TempDir::new()?;
        let agent = home.path().join(&self.peer_agent);
        fs::create_dir_all(agent.parent().unwrap_or(Path::new("/")))?;
        symlink(&self.stub, agent)?;
        let mut command = Command::new(program);
        command.args(["server", "--no-token"]);
        // Whatever it may want to tell the world ends on this machine.
        for proxy in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            command.env(proxy, "http://127.0.0.1:9");
        }
        Server::start(command, home)
    }
}
