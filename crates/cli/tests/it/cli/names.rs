//! daemon-2, daemon-3: the program by its other name.

use std::{
    io::{BufRead, BufReader},
    os::unix::fs::symlink,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

use super::{Run, tombolo};
use crate::TOMBOLO;

/// A daemon that was started as `sandbox-daemon`; it ends with the test.
struct Started {
    home: TempDir,
    child: Child,
    endpoint: String,
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Started {
    /// `how` puts the program at a path.
    fn new(how: fn(&PathBuf), arguments: &[&str]) -> Self {
        let home = TempDir::new().unwrap();
        how(&home.path().join("sandbox-daemon"));
        let mut command = sandbox_daemon(&home);
        command.args(["--port", "0"]).args(arguments).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let endpoint = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        Self { home, child, endpoint }
    }

    fn ask(&self, arguments: &[&str]) -> Run {
        Run::of(
            sandbox_daemon(&self.home).args(arguments).args(["--endpoint", &self.endpoint]).output().unwrap(),
        )
    }
}

fn sandbox_daemon(home: &TempDir) -> Command {
    let mut command = Command::new(home.path().join("sandbox-daemon"));
    command
        .env_remove("TOMBOLO_TOKEN")
        .env_remove("TOMBOLO_ENDPOINT")
        .env("HOME", home.path())
        .stdin(Stdio::null());
    command
}

#[test]
fn sandbox_daemon_starts_the_daemon_and_asks_it() {
    let daemon = Started::new(
        |path| symlink(TOMBOLO, path).unwrap(),
        &["--token", "the-token", "--host", "127.0.0.1"],
    );
    assert!(daemon.ask(&["agents", "list"]).said(1).contains("urn:problem:unauthorized"));
    let by_this_name = daemon.ask(&["agents", "list", "--token", "the-token", "--json"]).ok();
    let by_the_other = Run::of(
        tombolo()
            .args(["api", "agents", "list", "--token", "the-token", "--json", "--endpoint", &daemon.endpoint])
            .output()
            .unwrap(),
    );
    assert_eq!(by_this_name, by_the_other.ok());
}

/// A copy has no other name to find the mock agent by.
#[test]
fn a_copy_by_that_name_runs_the_mock_agent_too() {
    let daemon = Started::new(
        |path| {
            std::fs::copy(TOMBOLO, path).unwrap();
        },
        &[],
    );
    let answer = daemon.ask(&["acp", "send", "a", "--agent", "mock", super::INITIALIZE]).ok();
    assert!(answer.contains("Mock agent"), "{answer}");
}

/// The variable is for both: it must not make asking look like starting.
#[test]
fn a_token_in_the_environment_goes_with_every_command() {
    let home = TempDir::new().unwrap();
    symlink(TOMBOLO, home.path().join("sandbox-daemon")).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = sandbox_daemon(&home);
        command
            .env("TOMBOLO_TOKEN", "the-token")
            .env("TOMBOLO_ENDPOINT", "http://127.0.0.1:1")
            .args(arguments);
        Run::of(command.output().unwrap())
    };
    assert!(run(&["agents", "list"]).said(3).contains("could not reach"));
    let mixed = run(&["--port", "1", "agents", "list"]);
    assert_eq!(mixed.code, Some(2), "{}", mixed.stderr);
}

/// daemon-2: an open daemon is not put on the network by mistake.
#[test]
fn an_open_daemon_on_the_network_is_refused() {
    let home = TempDir::new().unwrap();
    symlink(TOMBOLO, home.path().join("sandbox-daemon")).unwrap();
    let run = Run::of(sandbox_daemon(&home).args(["--host", "0.0.0.0", "--port", "0"]).output().unwrap());
    assert!(run.said(1).contains("token"));
}

/// Issue 17: "`tombolo server` / `sandbox-agent server` command form".
#[test]
fn the_command_line_of_another_daemon_starts_ours() {
    let home = TempDir::new().unwrap();
    let other_name = home.path().join("sandbox-agent");
    symlink(TOMBOLO, &other_name).unwrap();
    for program in [PathBuf::from(TOMBOLO), other_name] {
        let mut command = Command::new(program);
        command.args(["server", "--no-token", "--host", "127.0.0.1", "--port", "0"]);
        command.env("HOME", home.path()).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(line.starts_with("listening on http://127.0.0.1:"), "{line}");
    }
}
