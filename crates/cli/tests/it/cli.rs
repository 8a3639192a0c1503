//! The command line: daemon-2 and daemon-3.

mod commands;
mod credentials;
mod deprecated;
mod endings;
mod files;
mod generated;
pub(crate) mod mirrored;
mod mistakes;
mod names;
mod processes;
mod sessions;
mod stream;
mod up;
mod waits;

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

use testkit::TestDaemon;

use crate::TOMBOLO;

/// What a command came to.
struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Run {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// What it printed, if it did what was asked and had nothing else to say.
    #[track_caller]
    fn ok(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{}", self.stdout);
        self.stdout
    }

    /// What it said on stderr, having printed nothing.
    #[track_caller]
    fn said(self, code: i32) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (Some(code), ""), "{}", self.stderr);
        self.stderr
    }
}

/// The program, with nothing of our own environment that it listens to.
fn tombolo() -> Command {
    let mut command = Command::new(TOMBOLO);
    for name in ["TOMBOLO_TOKEN", "TOMBOLO_ENDPOINT", "TOMBOLO_LOG", "COLUMNS"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

/// `tombolo api …`, asking `endpoint`.
fn api_at(endpoint: &str, arguments: &[&str]) -> Command {
    let mut command = tombolo();
    command.arg("api").args(arguments).env("TOMBOLO_ENDPOINT", endpoint);
    command
}

/// `tombolo api …`, asking this daemon.
fn api(daemon: &TestDaemon, arguments: &[&str]) -> Run {
    Run::of(api_at(daemon.base(), arguments).output().unwrap())
}

/// `tombolo api …` with this on standard input.
fn api_with_input(daemon: &TestDaemon, arguments: &[&str], input: &[u8]) -> Run {
    let mut command = api_at(daemon.base(), arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // It may have had enough before all was written.
    let _ = stdin.write_all(input);
    drop(stdin);
    Run::of(child.wait_with_output().unwrap())
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#;

fn prompt(id: u64, text: &str) -> String {
    let params = serde_json::json!({ "sessionId": "mock-1", "prompt": [{ "type": "text", "text": text }] });
    serde_json::json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params })
        .to_string()
}

/// Compares with the snapshot, without what differs from run to run.
macro_rules! assert_shown {
    ($name:literal, $text:expr) => {
        insta::with_settings!({
            filters => vec![
                (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "[time]"),
                (r"/[^\s]*/target/[^\s]*/tombolo", "[program]"),
                (r"/tmp/\.tmp\w+", "[home]"),
                (r#"etag( +)\S+"#, "etag$1[etag]"),
                (r"PID +STARTED", "PID  STARTED"),
                (r"running +\d+ +", "running  [pid]  "),
                (r"prc_[0-9a-f]{32}", "[process]"),
                (r"request [0-9a-f-]{36}", "request [id]"),
                (r"pid( +)\d+", "pid$1[pid]"),
                (r"directory +\d+ +", "directory  [size]  "),
                (r"mode( +)0\d{3}", "mode$1[mode]"),
                (concat!(r"\b", env!("CARGO_PKG_VERSION"), r"\b"), "[version]"),
            ],
            omit_expression => true,
        }, { insta::assert_snapshot!($name, $text) });
    };
}
use assert_shown;
