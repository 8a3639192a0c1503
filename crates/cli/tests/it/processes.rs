//! daemon-13: `/v1/processes`, as a client meets it.

mod ending;
mod input;
mod lifecycle;
mod logs;
mod refusals;
mod run;
mod terminal;
mod viewer;

use reqwest::{Method, Response};
use serde_json::{Value, json};
use testkit::{EventStream, ServerSentEvent, TestDaemon};

use crate::TOMBOLO;

/// The path of a process, or of something about it.
fn path(id: &str, of: &str) -> String {
    format!("/v1/processes/{id}{of}")
}

/// Starts what `start` says; the process as it was answered.
async fn start(daemon: &TestDaemon, start: &Value) -> Value {
    let response = daemon.post("/v1/processes", start).await;
    assert_eq!(response.status(), 201, "{}", response.text().await.unwrap());
    response.json().await.unwrap()
}

/// Starts a script; the id of its process.
async fn sh(daemon: &TestDaemon, script: &str) -> String {
    let process = start(daemon, &json!({ "command": "sh", "args": ["-c", script] })).await;
    process["id"].as_str().unwrap().to_owned()
}

/// Starts a script on a terminal of 80 columns and 24 rows; the id of its process.
async fn sh_on_terminal(daemon: &TestDaemon, script: &str) -> String {
    let terminal = json!({ "columns": 80, "rows": 24 });
    let process =
        start(daemon, &json!({ "command": "sh", "args": ["-c", script], "terminal": terminal })).await;
    process["id"].as_str().unwrap().to_owned()
}

async fn input(daemon: &TestDaemon, id: &str, query: &str, bytes: &'static [u8]) -> Response {
    let request = daemon.request(Method::POST, &path(id, &format!("/input{query}")));
    request.header("content-type", "application/octet-stream").body(bytes).send().await.unwrap()
}

/// Waits for the end; the process as it is then.
async fn ended(daemon: &TestDaemon, id: &str) -> Value {
    let response = daemon.post_text(&path(id, "/wait?timeoutMs=20000"), "").await;
    assert_eq!(response.status(), 200);
    let process: Value = response.json().await.unwrap();
    assert_eq!(process["state"], "exited", "{process}");
    process
}

async fn follow(daemon: &TestDaemon, id: &str) -> EventStream {
    EventStream::new(daemon.get(&path(id, "/logs?follow=true")).await)
}

/// What the next event of output says.
async fn text(events: &mut EventStream) -> String {
    let data: Value = serde_json::from_str(&events.next_of("output").await.data).unwrap();
    data["text"].as_str().unwrap().to_owned()
}

/// What all events of output say, and the event after them.
fn told(events: &[ServerSentEvent]) -> (String, &ServerSentEvent) {
    let (last, outputs) = events.split_last().unwrap();
    let text = |event: &ServerSentEvent| {
        assert_eq!(event.event, "output");
        let data: Value = serde_json::from_str(&event.data).unwrap();
        assert_eq!(data["seq"].as_u64(), event.id);
        data["text"].as_str().unwrap().to_owned()
    };
    (outputs.iter().map(text).collect(), last)
}
