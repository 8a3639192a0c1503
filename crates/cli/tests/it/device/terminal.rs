//! A device on a terminal, which is one of a daemon's, and what its owner sees and types there.

use reqwest::Method;
use serde_json::json;
use testkit::{EventStream, TestDaemon};

use super::{hub::Connected, *};

/// What the owner can type if nothing is remembered, and if something is.
pub(super) const ONCE: &str = "[y]es [n]o > ";
pub(super) const ALWAYS: &str = "[y]es [a]lways [n]o > ";

/// A device on a terminal.
pub(super) struct Terminal {
    pub(super) place: Place,
    daemon: TestDaemon,
    process: String,
    logs: EventStream,
    shown: String,
}

impl Terminal {
    /// Lends two directories to this hub, and what else these arguments say.
    pub(super) async fn open(hub: &mut StandIn, more: &[&str]) -> (Self, Connected) {
        let (daemon, place) = (TestDaemon::start(TOMBOLO), Place::new());
        std::fs::create_dir(place.path("other")).unwrap();
        let path = |below: &str| place.path(below).to_str().unwrap().to_owned();
        let roots =
            [("main", "code"), ("other", "other")].map(|(id, below)| format!("{id}={}:rw", path(below)));
        let (token, data) = (path("token"), path("data"));
        let args = [
            "device",
            "connect",
            hub.base(),
            "--client-id",
            "laptop",
            "--root",
            &roots[0],
            "--root",
            &roots[1],
            "--token-file",
            &token,
            "--data-dir",
            &data,
        ];
        let args = [&args, more].concat();
        let start = json!({
            "command": TOMBOLO, "args": args, "env": { "TERM": "xterm" }, "terminal": { "columns": 100, "rows": 40 },
        });
        let process: Value = daemon.post("/v1/processes", &start).await.json().await.unwrap();
        let process = process["id"].as_str().unwrap().to_owned();
        let logs = EventStream::new(daemon.get(&format!("/v1/processes/{process}/logs?follow=true")).await);
        let connected = hub.next().await;
        let mut terminal = Self { place, daemon, process, logs, shown: String::new() };
        terminal.sees("● laptop connected · idle").await;
        (terminal, connected)
    }

    pub(super) async fn type_line(&self, line: &str) {
        self.type_text(&format!("{line}\r")).await;
    }

    pub(super) async fn type_text(&self, text: &str) {
        let path = format!("/v1/processes/{}/input", self.process);
        let request =
            self.daemon.request(Method::POST, &path).header("content-type", "application/octet-stream");
        assert_eq!(request.body(text.to_owned()).send().await.unwrap().status(), 204);
    }

    /// Waits until the owner can answer like this, and types their answer.
    pub(super) async fn answers(&mut self, prompt: &str, line: &str) {
        self.sees(prompt).await;
        self.type_line(line).await;
    }

    /// Waits until this is shown after what was waited for before.
    pub(super) async fn sees(&mut self, text: &str) {
        let seen = async {
            loop {
                if let Some(at) = self.shown.find(text) {
                    self.shown.drain(..at + text.len());
                    return;
                }
                let event = self.logs.next().await.expect("it still runs");
                let data: Value = serde_json::from_str(&event.data).unwrap();
                self.shown.push_str(data["text"].as_str().unwrap_or_default());
            }
        };
        if tokio::time::timeout(secs(20), seen).await.is_err() {
            panic!("`{text}` was not shown, but {:?}", self.shown);
        }
    }

    /// Its exit code.
    pub(super) async fn ended(&self) -> Value {
        let path = format!("/v1/processes/{}/wait?timeoutMs=20000", self.process);
        let process: Value = self.daemon.post_text(&path, "").await.json().await.unwrap();
        process["exit"]["code"].clone()
    }

    pub(super) fn written(&self, name: &str) -> bool {
        self.place.path("code").join(name).exists()
    }
}
