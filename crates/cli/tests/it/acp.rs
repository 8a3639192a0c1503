//! `/v1/acp/{server_id}`: the acceptance list, line by line.

#![allow(clippy::disallowed_methods, reason = "what is spawned here is awaited a few lines below")]

mod around;
pub(crate) mod clients;
mod instances;
mod keys;
mod linger;
mod messages;
mod process;
mod stream;

use serde_json::{Value, json};
use testkit::{TestDaemon, TestDaemonOptions};

use crate::{TOMBOLO, check_problem, problem};

/// A daemon with an agent `x` that is a Python script.
fn with_script(script: &str) -> TestDaemon {
    TestDaemonOptions::default().agent("x", &["python3", "-uc", script]).start(TOMBOLO)
}

fn request(id: impl Into<Value>, method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": {} })
}

fn prompt(id: u64, text: &str) -> Value {
    let params = json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": text }] });
    json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params })
}
