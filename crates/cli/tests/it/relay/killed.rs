//! What ends suddenly: a device or a hub that is killed, and access that is revoked.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{TestDaemonOptions, TestHub, within, within_blocking};
use tokio::task::JoinSet;

use super::{Device, environment, lend, plug::commands, typed};
use crate::{TOMBOLO, hub::TOKEN, secs};

/// Asks for a command, beside.
fn beside(hub: &TestHub, command: &str) -> JoinSet<Value> {
    let (id, secret) = environment(hub);
    let path = format!("/api/v1/relay/environments/{id}/requests");
    let body = json!({ "method": "shell.start", "params": { "command": command } });
    let request = hub.request_as(&secret, Method::POST, &path).json(&body);
    let mut asked = JoinSet::new();
    // Whoever is killed may not answer.
    asked.spawn(async move {
        match request.send().await {
            Ok(response) => response.json().await.unwrap_or_default(),
            Err(_) => Value::Null,
        }
    });
    asked
}

async fn get(hub: &TestHub, path: &str) -> Value {
    let response = hub.request(Method::GET, path).send().await.unwrap();
    assert!(response.status().is_success(), "{path}: {}", response.status());
    response.json().await.unwrap()
}

/// What the device keeps of its own, by name.
fn kept(device: &Device) -> Vec<String> {
    let mut names = Vec::new();
    let mut directories = vec![device.directory.path().join("data")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => directories.push(entry.path()),
                false => names.push(entry.file_name().into_string().unwrap()),
            }
        }
    }
    names.sort();
    names
}

/// relay-120, relay-174: a device that is killed takes nothing with it but what it lends and what was asked of it: the session, the
/// record, the environment and what is granted are where they were. On the device there is its record, and where it is spoken to.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_that_is_killed_takes_nothing_with_it() {
    let daemon = TestDaemonOptions::default().env("TOMBOLO_TOKEN", TOKEN).start(TOMBOLO);
    let hub = TestHub::start(TOMBOLO);
    hub.add_runtime("box", daemon.base(), Some(TOKEN)).await;
    let (mut device, _tools) = lend(&hub, "always_ask");
    let create = json!({ "agent": "mock", "environment": { "clientId": "laptop" } });
    let made = hub.request(Method::POST, "/api/runtimes/box/v1/sessions/demo").json(&create);
    assert_eq!(made.send().await.unwrap().status(), 200);
    let mut asked = beside(&hub, "true");
    within(secs(20), async { while get(&hub, "/api/waits").await["items"][0].is_null() {} }).await;
    let wait = get(&hub, "/api/waits").await["items"][0]["id"].take();
    let audit = get(&hub, "/api/v1/relay/audit").await["items"].take();
    let held =
        async || [get(&hub, "/api/grants").await, get(&hub, "/api/runtimes/box/v1/sessions/demo").await];
    let before = held().await;
    device.child.kill().unwrap();
    device.child.wait().unwrap();
    within_blocking(secs(20), || !typed(&hub, &["hub", "devices", "list"]).contains("fileops"));
    assert_eq!(held().await, before);
    let environments = get(&hub, "/api/v1/relay/environments").await;
    let sessions: Vec<_> =
        environments["items"].as_array().unwrap().iter().map(|it| &it["sessionId"]).collect();
    assert!(sessions.len() == 2 && sessions.contains(&&json!("demo")), "{environments}");
    let ended = within(secs(20), asked.join_next()).await.unwrap().unwrap();
    assert_eq!(ended["relay"]["code"], "relay_disconnected", "{ended}");
    let wait = format!("/api/waits/box/{}", wait.as_str().unwrap());
    let answer = hub.request(Method::POST, &wait).json(&json!({ "answer": { "permission": "once" } }));
    assert_eq!(answer.send().await.unwrap().status(), 409, "nobody waits for it any more");
    let audit = audit.as_array().unwrap();
    let entries = async || get(&hub, "/api/v1/relay/audit").await["items"].as_array().unwrap().clone();
    within(secs(20), async { while entries().await.len() <= audit.len() {} }).await;
    assert!(entries().await.starts_with(audit), "{audit:?}");
    assert_eq!(kept(&device), ["audit.jsonl", "control.sock", "lock"]);
}

/// relay-154: a hub that is killed while something goes on has written that it began, and says that it knows no end; the record
/// holds.
#[tokio::test(flavor = "multi_thread")]
async fn what_went_on_when_the_hub_was_killed_is_seen_as_such() {
    let mut hub = TestHub::start(TOMBOLO);
    hub.add_runtime("box", "http://127.0.0.1:9", None).await;
    let _lent = lend(&hub, "allow");
    let _asked = beside(&hub, "sleep 1000");
    within_blocking(secs(20), || typed(&hub, &["audit", "list"]).contains("shell.start"));
    hub.kill_and_restart();
    let verified = typed(&hub, &["audit", "verify"]);
    assert!(verified.starts_with("intact: entries 1 to 2, last hash "), "{verified}");
    assert!(verified.contains("1 requests have no recorded end"), "{verified}");
    let list = typed(&hub, &["audit", "list"]);
    assert!(list.contains("shell.start") && list.trim_end().ends_with("started"), "{list}");
}

/// relay-157: a command that ignores SIGTERM is gone within a second of the revocation, whatever is revoked.
#[tokio::test(flavor = "multi_thread")]
async fn revoked_access_ends_a_stubborn_command_within_a_second() {
    for revoked in ["environment", "grant", "device"] {
        let hub = TestHub::start(TOMBOLO);
        hub.add_runtime("box", "http://127.0.0.1:9", None).await;
        let _lent = lend(&hub, "allow");
        let nap = fastrand::u32(1_000_000..);
        let _asked = beside(&hub, &format!("trap '' TERM HUP; sleep {nap}; sleep {nap}"));
        within_blocking(secs(20), || commands(nap) > 0);
        let first = async |path: &str, field: &str| {
            let items = get(&hub, path).await["items"].take();
            format!("{path}/{}", items[0][field].as_str().unwrap())
        };
        let (method, path) = match revoked {
            "environment" => (Method::DELETE, first("/api/v1/relay/environments", "id").await),
            "grant" => (Method::DELETE, first("/api/grants", "grant_id").await),
            _ => (Method::POST, "/api/devices/laptop/stop".to_owned()),
        };
        let start = Instant::now();
        let response = hub.request(method, &path).send().await.unwrap();
        assert!(response.status().is_success(), "{path}: {}", response.status());
        within_blocking(secs(20), || commands(nap) == 0);
        let took = start.elapsed();
        assert!(took < Duration::from_secs(1), "{revoked}: {took:?}");
    }
}
