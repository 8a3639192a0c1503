//! `/v1/acp/{server_id}`: the acceptance list, line by line.

mod around;
mod instances;
mod messages;
mod process;
mod stream;

use serde_json::{Value, json};
use testkit::{Daemon, DaemonOptions};

use crate::TOMBOLO;

/// A daemon with an agent `x` that is a Python script.
fn with_script(script: &str) -> Daemon {
    DaemonOptions::default().agent("x", &["python3", "-uc", script]).start(TOMBOLO)
}

fn request(id: impl Into<Value>, method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": {} })
}

fn prompt(id: u64, text: &str) -> Value {
    let params = json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": text }] });
    json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params })
}

/// The problem that a response carries.
async fn problem(response: reqwest::Response) -> Value {
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    let status = response.status().as_u16();
    let problem: Value = response.json().await.unwrap();
    assert_eq!(problem["status"], status, "{problem}");
    problem
}

#[track_caller]
fn check_problem(problem: &Value, status: u16, kind: &str) {
    assert_eq!(
        (problem["status"].as_u64(), problem["type"].as_str()),
        (Some(status.into()), Some(kind)),
        "{problem}"
    );
}
