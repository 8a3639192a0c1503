//! A daemon that a check runs.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Stdio},
};

use anyhow::Context;

use crate::sh;

/// The daemon requires a token, so that requests without one are tested too.
const TOKEN: &str = "check-token";

/// A running daemon with a directory of its own, which is killed when this value is dropped.
pub(crate) struct CheckedDaemon {
    process: Child,
    base: String,
    root: PathBuf,
}

impl CheckedDaemon {
    /// Starts a daemon whose files are below `home`. Files of an earlier run are deleted, because they would change the
    /// responses of this one. `options` are further ones of `tombolo daemon`.
    pub(crate) fn start(program: &Path, home: &Path, options: &[&str]) -> anyhow::Result<Self> {
        let _ = std::fs::remove_dir_all(home);
        let root = home.join("root");
        std::fs::create_dir_all(root.join("directory"))?;
        std::fs::write(root.join("file"), "content")?;
        let mut command = sh::command(program);
        // Generated agent names must not cause downloads: with --no-install the daemon refuses agents that are not installed.
        command.args(["daemon", "--port", "0", "--log", "error", "--no-install", "--fs-root"]).arg(&root);
        command.arg("--data-dir").arg(home.join("data")).args(options);
        command.env("TOMBOLO_TOKEN", TOKEN).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut daemon = Self { process: command.spawn()?, base: String::new(), root };
        let stdout = daemon.process.stdout.take().context("the daemon's output is not piped")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let base = line.trim().strip_prefix("listening on ").context("the daemon did not start")?;
        daemon.base = base.to_owned();
        Ok(daemon)
    }

    /// Its URL.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// The token that it requires.
    pub(crate) fn token(&self) -> &'static str {
        TOKEN
    }

    /// The directory that its file routes are limited to. It contains the file `file` and the directory `directory`.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }
}

impl Drop for CheckedDaemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
