//! A program on a terminal. The terminal is that of a process which a daemon runs.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{EventStream, TestDaemon};

use crate::{TOMBOLO, secs};

/// A running `tombolo` on a terminal of 100 columns and 40 rows.
pub(crate) struct TerminalProcess {
    /// The daemon that runs the program.
    pub(crate) daemon: TestDaemon,
    process: String,
    logs: EventStream,
    /// The output that no call of [`sees`](Self::sees) has consumed yet.
    shown: String,
}

impl TerminalProcess {
    /// Starts `tombolo` with these arguments. It finds the daemon as its endpoint in the environment.
    pub(crate) async fn start(daemon: TestDaemon, args: &[&str]) -> Self {
        let endpoint = daemon.base().to_owned();
        Self::start_at(daemon, &endpoint, args).await
    }

    /// The same with another daemon as its endpoint, which may end before the program does.
    pub(crate) async fn start_at(daemon: TestDaemon, endpoint: &str, args: &[&str]) -> Self {
        let env = json!({ "TOMBOLO_ENDPOINT": endpoint, "TERM": "xterm" });
        let start = json!({ "command": TOMBOLO, "args": args, "env": env, "terminal": { "columns": 100, "rows": 40 } });
        let process: Value = daemon.post("/v1/processes", &start).await.json().await.unwrap();
        let process = process["id"].as_str().unwrap().to_owned();
        let logs = EventStream::new(daemon.get(&format!("/v1/processes/{process}/logs?follow=true")).await);
        Self { daemon, process, logs, shown: String::new() }
    }

    /// Types text; `\r` is the return key.
    pub(crate) async fn type_text(&self, text: &str) {
        let path = format!("/v1/processes/{}/input", self.process);
        let request =
            self.daemon.request(Method::POST, &path).header("content-type", "application/octet-stream");
        assert_eq!(request.body(text.to_owned()).send().await.unwrap().status(), 204);
    }

    /// Types a line and the return key.
    pub(crate) async fn type_line(&self, line: &str) {
        self.type_text(&format!("{line}\r")).await;
    }

    /// Waits until the program shows `text` after the text of the previous call.
    pub(crate) async fn sees(&mut self, text: &str) {
        let seen = async {
            loop {
                if let Some(at) = self.shown.find(text) {
                    self.shown.drain(..at + text.len());
                    return;
                }
                let event = self.logs.next().await.expect("the program has ended");
                let data: Value = serde_json::from_str(&event.data).unwrap();
                self.shown.push_str(data["text"].as_str().unwrap_or_default());
            }
        };
        if tokio::time::timeout(secs(20), seen).await.is_err() {
            panic!("`{text}` was not shown, but {:?}", self.shown);
        }
    }

    /// Waits for the end of the program and returns its exit code.
    pub(crate) async fn exit_code(&self) -> Value {
        let path = format!("/v1/processes/{}/wait?timeoutMs=20000", self.process);
        let process: Value = self.daemon.post_text(&path, "").await.json().await.unwrap();
        process["exit"]["code"].clone()
    }
}
