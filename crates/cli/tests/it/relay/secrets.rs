//! What a device and an environment are let in with, and where it is not found.

use std::{fs, path::Path};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{TestHub, TestHubOptions, within_blocking};

use super::{Device, ask, environment, lend, typed};
use crate::{TOMBOLO, secs};

/// The files below a directory that hold this.
fn holding(directory: &Path, secret: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, secret));
        } else if fs::read(&path).unwrap_or_default().windows(secret.len()).any(|at| at == secret.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

/// relay-7: neither in the log of the hub, whatever is logged, nor in any other file of it: not if it was said where it belongs, and
/// not if it was said in the address, where it lets nobody in.
#[tokio::test(flavor = "multi_thread")]
async fn what_lets_in_is_written_nowhere() {
    let hub = TestHubOptions::default().env("TOMBOLO_LOG", "trace").start(TOMBOLO);
    hub.add_runtime("box", "http://127.0.0.1:9", None).await;
    let token = typed(&hub, &["hub", "devices", "add", "laptop"]).trim().to_owned();
    typed(&hub, &["hub", "grants", "add", "laptop", "--runtime", "box", "--root", "main:ro"]);
    let address = format!("/api/v1/relay/connect?token={token}");
    let refused = reqwest::get(format!("{}{address}", hub.base())).await.unwrap();
    assert_eq!(refused.status(), 401);
    let _device = Device::connect(&hub, &token);
    within_blocking(secs(20), || typed(&hub, &["hub", "devices", "list"]).contains("fileops"));
    let (id, secret) = environment(&hub);
    let (id, params) = (id.to_string(), json!({ "root_id": "main", "path": "a.txt" }));
    let read = ask(&hub, (&id, &secret), "file.read", params).await;
    assert_eq!(read["result"]["content"], "from the device");
    let door = format!("/api/v1/relay/environments/{id}/requests?token={secret}");
    let refused = hub.request_as("nothing", Method::POST, &door).json(&json!({ "method": "tool.list" }));
    assert_eq!(refused.send().await.unwrap().status(), 401);
    within_blocking(secs(20), || hub.log().contains("a device connected"));
    for secret in [&token, &secret] {
        assert_eq!(holding(hub.directory(), secret), Vec::<String>::new());
    }
}

/// Fields that only one side knows: of the hub's routing, of the result and of the process.
const ONE_SIDED: [&str; 6] =
    ["environment_id", "runtime_id", "result_bytes", "stream_bytes", "command_id", "exit_code"];

/// The summaries of all commands that have ended, without what only one side knows.
fn command_summaries(entries: impl Iterator<Item = Value>) -> Vec<Value> {
    let ended = entries.filter(|entry| entry["method"] == "shell.start" && entry["status"].is_string());
    let summaries = ended.map(|entry| {
        let mut summary = entry["summary"].as_object().unwrap().clone();
        summary.retain(|name, _| !ONE_SIDED.contains(&name.as_str()));
        summary.into()
    });
    summaries.collect()
}

/// relay-152, relay-154: the hub and the device record the same of a command, and neither keeps a word that may be a secret.
#[tokio::test(flavor = "multi_thread")]
async fn hub_and_device_record_the_same_of_a_command() {
    let hub = TestHub::start(TOMBOLO);
    hub.add_runtime("box", "http://127.0.0.1:9", None).await;
    let (device, _tools) = lend(&hub, "allow");
    let (id, secret) = environment(&hub);
    let id = id.to_string();
    let commands = [
        json!({ "command": "ls -la hunter2; id; whoami" }),
        json!({ "command": "API_KEY=\"sk live hunter2\" true x" }),
        json!({ "command": "API_KEY=sk\\ live\\ hunter2 true" }),
        json!({ "command": "echo;hunter2;x" }),
        json!({ "command": "hunter2 2>&1 | cat", "cwd": "/workspace/main" }),
        json!({ "argv": ["sh", "-c", "echo hunter2"] }),
        json!({ "argv": ["sh -c \"PASS=hunter2\""] }),
    ];
    for params in &commands {
        ask(&hub, (&id, &secret), "shell.start", params.clone()).await;
    }
    let record = device.directory.path().join("data/device/laptop/audit");
    let by_device = || {
        let lines = fs::read_to_string(record.join("audit.jsonl")).unwrap();
        command_summaries(lines.lines().map(|line| serde_json::from_str(line).unwrap()))
    };
    let by_hub = || {
        let page: Value = serde_json::from_str(&typed(&hub, &["audit", "list", "--json"])).unwrap();
        command_summaries(page["items"].as_array().unwrap().iter().cloned())
    };
    within_blocking(secs(20), || by_hub().len() == commands.len() && by_device().len() == commands.len());
    assert_eq!(by_hub(), by_device());
    let listed = typed(&hub, &["audit", "list"]);
    assert!(listed.contains("3 commands: ls, id, whoami") && listed.contains("a shell command"), "{listed}");
    for directory in [hub.directory(), record.as_path()] {
        for word in ["hunter2", "live"] {
            assert_eq!(holding(directory, word), Vec::<String>::new(), "{word}");
        }
    }
}
