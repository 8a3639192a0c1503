//! `tombolo acp`: an editor on this side, the agent behind a daemon.

#![allow(clippy::disallowed_methods, reason = "what is spawned here is awaited a few lines below")]

mod conversation;
mod endings;
mod leaving;
mod network;
mod proxy;
mod sdks;

use std::process::{ExitStatus, Stdio};

use serde_json::{Value, json};
use testkit::{TestDaemon, TestDaemonOptions, within};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
};

use crate::{TOMBOLO, secs};
use proxy::Proxy;

/// The editor's side of a bridge.
struct Editor {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<Lines<BufReader<ChildStdout>>>,
    stderr: ChildStderr,
}

/// How a bridge ended.
struct Ended {
    code: Option<i32>,
    /// What was still to be read.
    stdout: Vec<String>,
    stderr: String,
}

/// `tombolo acp …`, as an editor starts it.
fn acp(endpoint: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(TOMBOLO);
    for name in ["TOMBOLO_TOKEN", "TOMBOLO_ENDPOINT"] {
        command.env_remove(name);
    }
    command.args(["acp", "--endpoint", endpoint]).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

impl Editor {
    fn start(endpoint: &str, arguments: &[&str]) -> Self {
        Self::of(acp(endpoint, arguments))
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        let stderr = child.stderr.take().unwrap();
        Self { child, stdin, stdout: Some(stdout), stderr }
    }

    async fn say(&mut self, message: &Value) {
        self.say_line(&message.to_string()).await;
    }

    async fn say_line(&mut self, line: &str) {
        self.stdin.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn hear_line(&mut self) -> String {
        let line = within(secs(30), self.stdout.as_mut().unwrap().next_line()).await.unwrap();
        line.expect("the agent says something")
    }

    async fn hear(&mut self) -> Value {
        serde_json::from_str(&self.hear_line().await).expect("only ACP is on standard output")
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().unwrap().to_string();
        let done = std::process::Command::new("kill").args([format!("-{name}"), pid]).status();
        assert!(done.unwrap().success());
    }

    /// Waits until it has ended.
    async fn ended(mut self) -> Ended {
        let status: ExitStatus = within(secs(60), self.child.wait()).await.unwrap();
        let mut stdout = Vec::new();
        if let Some(lines) = &mut self.stdout {
            while let Some(line) = lines.next_line().await.unwrap() {
                stdout.push(line);
            }
        }
        let mut stderr = String::new();
        self.stderr.read_to_string(&mut stderr).await.unwrap();
        Ended { code: status.code(), stdout, stderr }
    }

    /// Closes the input, as an editor does that leaves.
    async fn leave(mut self) -> Ended {
        self.stdin = None;
        self.ended().await
    }
}

fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn initialize() -> Value {
    request(1, "initialize", &json!({ "protocolVersion": 1 }))
}

fn prompt(id: u64, text: &str) -> Value {
    request(id, "session/prompt", &json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": text }] }))
}

/// An editor that reaches its daemon through a network that can fail, in the middle of a turn of instance `a`.
async fn in_a_turn(options: TestDaemonOptions, arguments: &[&str]) -> (TestDaemon, Proxy, Editor) {
    let daemon = options.start(TOMBOLO);
    let proxy = Proxy::start(daemon.base()).await;
    let arguments = [&["--agent", "mock", "--server-id", "a"], arguments].concat();
    let mut editor = Editor::start(&proxy.endpoint(), &arguments);
    editor.say(&prompt(2, "/think x\n/hang")).await;
    editor.hear().await;
    (daemon, proxy, editor)
}

/// The instances of a daemon.
async fn instances(daemon: &TestDaemon) -> Vec<Value> {
    let list: Value = daemon.get("/v1/acp").await.json().await.unwrap();
    list["items"].as_array().unwrap().clone()
}
