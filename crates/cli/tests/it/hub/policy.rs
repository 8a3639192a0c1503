//! What is hidden from whom, as a file says.

use std::{fs, path::Path, process::Command};

use super::*;
use crate::{check_problem, problem};

const PATH: &str = "/home/joe/.ssh/id_rsa";

/// Nothing of this is to be seen.
const HIDDEN: [&str; 3] = [".ssh", THOUGHT, "README.md"];

/// What the agent thinks, as it thinks it; the prompt says it too.
const THOUGHT: &str = r#""text":"a secret thought""#;

fn write(file: &Path, rules: &Value) {
    fs::write(file, json!({ "redact": rules }).to_string()).unwrap();
}

/// A daemon with a session in which something was said that is hidden, and a hub with that policy.
async fn with_policy(file: &Path, rules: &Value) -> (TestDaemon, TestHub) {
    write(file, rules);
    let daemon = TestDaemonOptions::default().env("TOMBOLO_TOKEN", TOKEN).start(TOMBOLO);
    let hub = TestHub::start_with(TOMBOLO, &["--policy", file.to_str().unwrap()]);
    hub.add_runtime("box", daemon.base(), Some(TOKEN)).await;
    create(&daemon, "s").await;
    (daemon, hub)
}

/// As much as can be is hidden from a role.
fn everything(role: &str) -> Value {
    json!({ role: { "thinking": true, "toolOutput": true, "paths": ["/home/*/.ssh/**"] } })
}

/// What makes the agent say all of it.
fn speech() -> String {
    format!("/think a secret thought\n/tool\nsee {PATH} here")
}

/// An owner from whom all of it is hidden watches while it is said: the envelopes that they got.
async fn watched(file: &Path) -> (TestDaemon, TestHub, Viewer, Vec<Value>) {
    let (daemon, hub) = with_policy(file, &everything("owner")).await;
    let mut viewer = Viewer::new(&hub, "s", None).await;
    viewer.until("control").await;
    send(&daemon, "s", &speech()).await;
    let seen = viewer.until_event("turnEnded").await;
    (daemon, hub, viewer, seen)
}

/// observation-68, observation-70: what a file says is hidden is hidden on the stream; it is read again when the hub is told to, and
/// holds at once.
#[tokio::test]
async fn a_policy_is_read_again() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("policy.json");
    let (daemon, hub, mut viewer, seen) = watched(&file).await;
    for secret in HIDDEN {
        assert!(!viewer.received.contains(secret), "`{secret}` was seen");
    }
    assert!(viewer.received.contains("see *** here"), "{}", viewer.received);
    let told = events(&daemon, "s").await;
    let end = told.iter().position(|event| event.get("turnEnded").is_some()).unwrap();
    let kinds = |events: &[Value]| {
        events
            .iter()
            .map(|event| event.as_object().unwrap().keys().next().unwrap().clone())
            .collect::<Vec<_>>()
    };
    let seen: Vec<_> = seen.iter().map(|envelope| envelope["payload"].clone()).collect();
    assert_eq!(kinds(&seen), kinds(&told[end + 1 - seen.len()..=end]), "the same events at the same places");
    write(&file, &json!({}));
    hub.send_sighup();
    // When it holds, what the session has come to is told once more.
    while !viewer.until("event").await["payload"].to_string().contains(PATH) {}
    assert!(viewer.received.contains(THOUGHT));
}

/// observation-68: what is hidden on the stream is hidden in what is asked for too; what cannot be shown in part is refused.
#[tokio::test]
async fn what_is_hidden_cannot_be_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("policy.json");
    let (daemon, hub, ..) = watched(&file).await;
    let at = |path: &str| format!("/api/runtimes/box/v1/{path}");
    for path in [
        "sessions",
        "sessions/s",
        "sessions/s/snapshot",
        "sessions/s/messages",
        "sessions/s/events",
        "sessions/s/events?includeRaw=true",
        "sessions/s/events?offset=4",
        "sessions/s/inputs",
        "waits",
        "agents",
        "health",
    ] {
        let response = hub.request(Method::GET, &at(path)).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        let body = response.text().await.unwrap();
        for secret in HIDDEN {
            assert!(!body.contains(secret), "{path}: {body}");
        }
    }
    let page = hub.request(Method::GET, &at("sessions/s/events")).send().await.unwrap();
    let page: Value = page.json().await.unwrap();
    assert_eq!(page["events"].as_array().unwrap().len(), events(&daemon, "s").await.len());
    assert!(page.to_string().contains("see *** here"));
    for path in ["sessions/s/events/sse", "fs/entries?path=.", "acp", "processes", "config/mcp?directory=/"] {
        let response = hub.request(Method::GET, &at(path)).send().await.unwrap();
        check_problem(&problem(response).await, 403, "urn:problem:forbidden");
    }
    // Nobody knows what goes over a WebSocket, or what is answered in its place.
    for path in ["sessions/s/snapshot", "sessions/s/messages"] {
        let socket = [
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        let request = socket.iter().fold(hub.request(Method::GET, &at(path)), |request, (name, value)| {
            request.header(*name, *value)
        });
        check_problem(&problem(request.send().await.unwrap()).await, 403, "urn:problem:forbidden");
    }
    let list = hub.request(Method::GET, "/api/runtimes/box/workers").send().await.unwrap();
    assert_eq!(list.status(), 200);
    // They may still drive it.
    let sent = hub.request(Method::POST, &at("sessions/s/messages")).json(&json!({ "message": "hello" }));
    assert_eq!(sent.send().await.unwrap().status(), 202);
}

/// observation-68, observation-70: what is hidden goes by the role in the workspace. Who loses a role sees less at once, also on a stream
/// that is open; one that cannot be shown in part is cut off.
#[tokio::test]
async fn who_has_a_lesser_role_sees_less() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("policy.json");
    let (daemon, hub) = with_policy(&file, &everything("viewer")).await;
    let ada = somebody(&hub, "ada", json!({ "roles": { "default": "owner" } })).await;
    let bob = somebody(&hub, "bob", json!({ "roles": { "default": "viewer", "other": "owner" } })).await;
    let mut adas = Viewer::try_as(&hub, &ada, "s").await.unwrap();
    let mut bobs = Viewer::try_as(&hub, &bob, "s").await.unwrap();
    for viewer in [&mut adas, &mut bobs] {
        viewer.until("control").await;
    }
    send(&daemon, "s", &speech()).await;
    for viewer in [&mut adas, &mut bobs] {
        viewer.until_event("turnEnded").await;
    }
    assert!(adas.received.contains(PATH), "{}", adas.received);
    for secret in HIDDEN {
        assert!(!bobs.received.contains(secret), "`{secret}` was seen");
    }
    let sse = "/api/runtimes/box/v1/sessions/s/events/sse";
    let refused = hub.request_as(&bob, Method::GET, sse).send().await.unwrap();
    check_problem(&problem(refused).await, 403, "urn:problem:forbidden");
    let mut events = EventStream::new(hub.request_as(&ada, Method::GET, sse).send().await.unwrap());
    within(secs(20), events.next()).await.unwrap();
    let lesser =
        hub.request(Method::PUT, "/api/users/ada").json(&json!({ "roles": { "default": "viewer" } }));
    assert_eq!(answer(lesser).await.0, 200);
    // What the session has come to is told once more, as she sees it now.
    let seen = loop {
        let envelope = adas.until("event").await;
        if envelope["payload"].get("snapshot").is_some() {
            break envelope.to_string();
        }
    };
    for secret in HIDDEN {
        assert!(!seen.contains(secret), "`{secret}` was seen: {seen}");
    }
    within(secs(20), async { while events.next().await.is_some() {} }).await;
}

/// observation-68: what waits for a person is shown as everything else is, in the list, on the stream and in the answer, and
/// is told anew when another policy holds.
#[tokio::test]
async fn what_waits_is_shown_in_part() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("policy.json");
    let rules = json!({ "controller": { "paths": ["build"] } });
    let (daemon, hub) = with_policy(&file, &rules).await;
    let (owner, ada) = (Person::owner(&hub), Person::somebody_else(&hub, "ada").await);
    let mut listeners = [owner.listen().await, ada.listen().await];
    for listener in &mut listeners {
        listener.until("snapshot").await;
    }
    send(&daemon, "s", "/permission").await;
    let [owners, adas] = &mut listeners;
    let (whole, part) = (owners.until("opened").await, adas.until("opened").await);
    let input = |told: &Value| told["request"]["permission"]["input"].to_string();
    assert!(input(&whole["wait"]).contains("build"), "{whole}");
    assert!(input(&part["wait"]).contains("***") && !part.to_string().contains("build"), "{part}");
    assert_eq!(whole["wait"]["id"], part["wait"]["id"]);
    for path in ["/api/waits", "/api/runtimes/box/v1/waits"] {
        let (whole, part) = (owner.get(path).await, ada.get(path).await);
        assert!(input(&whole["items"][0]).contains("build"), "{path}: {whole}");
        assert!(input(&part["items"][0]).contains("***"), "{path}: {part}");
        assert!(!part.to_string().contains("build"), "{path}: {part}");
    }
    write(&file, &json!({}));
    hub.send_sighup();
    let anew = adas.until("snapshot").await;
    assert!(input(&anew["waits"][0]).contains("build"), "{anew}");
    write(&file, &rules);
    hub.send_sighup();
    adas.until("snapshot").await;
    let path = format!("/api/waits/box/{}", whole["wait"]["id"].as_str().unwrap());
    let settled = ada.post(&path, &json!({ "answer": { "permission": "once" } })).await;
    assert_eq!(settled.status(), 200);
    let settled: Value = settled.json().await.unwrap();
    assert!(input(&settled).contains("***") && !settled.to_string().contains("build"), "{settled}");
    assert!(!adas.until("settled").await.to_string().contains("build"));
}

/// A policy that cannot be used is no policy: the hub does not start with it.
#[test]
fn a_hub_does_not_start_with_a_policy_that_is_no_good() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("policy.json");
    fs::write(&file, r#"{"redact":{"viewer":{"thinkin":true}}}"#).unwrap();
    let output = Command::new(TOMBOLO)
        .args(["hub", "--port", "0", "--data-dir"])
        .arg(directory.path().join("hub"))
        .arg("--policy")
        .arg(&file)
        .output()
        .unwrap();
    assert!(!output.status.success());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("could not load the policy") && told.contains("thinkin"), "{told}");
}
