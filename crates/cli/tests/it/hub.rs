//! The hub as people meet it: the real hub, real daemons, real sockets, and the mock agent in place of a model.

mod actions;
mod audited;
mod authors;
mod broken;
mod browser;
mod directories;
mod forwarded;
mod full_disk;
mod hidden;
mod inbox;
mod joined;
mod lagging;
mod limited;
mod named;
mod observation;
mod passed;
mod people;
mod person;
mod policy;
mod presence;
mod recovered;
mod refused;
mod revoked;
mod roles;
mod stalled;
pub(crate) mod up;
pub(crate) mod viewer;
mod watched;
mod wire;

use std::time::Duration;

use person::Person;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::{EventStream, TestDaemon, TestDaemonOptions, TestHub, within};
use viewer::Viewer;

use crate::{TOMBOLO, secs};

/// What lets the hub into a daemon.
pub(crate) const TOKEN: &str = "a-token-of-the-daemon";

/// A daemon that needs a token, and a hub that knows it as `box`.
async fn both() -> (TestDaemon, TestHub) {
    let daemon = TestDaemonOptions::default().env("TOMBOLO_TOKEN", TOKEN).start(TOMBOLO);
    let hub = TestHub::start(TOMBOLO);
    hub.add_runtime("box", daemon.base(), Some(TOKEN)).await;
    (daemon, hub)
}

/// Somebody who may do this; what lets them in.
pub(crate) async fn somebody(hub: &TestHub, name: &str, mut allowed: Value) -> String {
    allowed["name"] = json!(name);
    let added = hub.request(Method::POST, "/api/users").json(&allowed).send().await.unwrap();
    assert_eq!(added.status(), 201, "{}", added.text().await.unwrap());
    token(hub, json!({ "name": "test", "user": name })).await.1
}

/// A new token: its id and its secret.
async fn token(hub: &TestHub, add: Value) -> (String, String) {
    let added = hub.request(Method::POST, "/api/tokens").json(&add).send().await.unwrap();
    let (status, added) = (added.status(), added.json::<Value>().await.unwrap());
    assert_eq!(status, 201, "{added}");
    (added["token"]["id"].as_str().unwrap().into(), added["secret"].as_str().unwrap().into())
}

/// What somebody is answered.
async fn answer(request: reqwest::RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap_or_default())
}

/// A daemon that has joined the hub, which it calls at `base`, as `id`. Nobody is told where it is.
async fn join(hub: &TestHub, base: &str, id: &str) -> TestDaemon {
    let token = hub.create_join_token(id).await;
    let daemon = joining(base, &token).start(TOMBOLO);
    until_up(hub, id).await;
    daemon
}

/// How a daemon is started that joins a hub at `base`.
pub(crate) fn joining(base: &str, token: &str) -> TestDaemonOptions {
    let options = TestDaemonOptions::default().arg("--join").arg(base);
    options.env("TOMBOLO_JOIN_TOKEN", token).env("TOMBOLO_TOKEN", TOKEN)
}

/// Waits until the runtime is there.
pub(crate) async fn until_up(hub: &TestHub, id: &str) {
    // Not faster than one token may ask.
    let mut pace = tokio::time::interval(Duration::from_millis(20));
    let up = async {
        while get(hub, &format!("/api/runtimes/{id}")).await["isReachable"] != true {
            pace.tick().await;
        }
    };
    within(secs(20), up).await;
}

/// What the hub says.
async fn get(hub: &TestHub, path: &str) -> Value {
    through(hub, Method::GET, path, None).await
}

/// Asks the hub.
async fn through(hub: &TestHub, method: Method, path: &str, body: Option<Value>) -> Value {
    let mut request = hub.request(method, path);
    if let Some(body) = body {
        request = request.json(&body);
    }
    let response = request.send().await.unwrap();
    assert!(response.status().is_success(), "{path}: {}", response.text().await.unwrap());
    response.json().await.unwrap_or_default()
}

/// Asks the daemon itself.
pub(crate) async fn ask(daemon: &TestDaemon, method: Method, path: &str, body: Option<Value>) -> Value {
    let mut request = daemon.request(method, path).bearer_auth(TOKEN);
    if let Some(body) = body {
        request = request.json(&body);
    }
    let response = request.send().await.unwrap();
    assert!(response.status().is_success(), "{path}: {}", response.text().await.unwrap());
    response.json().await.unwrap_or_default()
}

pub(crate) async fn create(daemon: &TestDaemon, id: &str) {
    ask(daemon, Method::POST, &format!("/v1/sessions/{id}"), Some(json!({ "agent": "mock" }))).await;
}

pub(crate) async fn send(daemon: &TestDaemon, id: &str, message: &str) {
    let path = format!("/v1/sessions/{id}/messages");
    ask(daemon, Method::POST, &path, Some(json!({ "message": message }))).await;
}

/// Everything that happened in a session, as the daemon has it.
async fn events(daemon: &TestDaemon, id: &str) -> Vec<Value> {
    let (mut events, mut more) = (Vec::new(), true);
    while more {
        let path = format!("/v1/sessions/{id}/events?offset={}", events.len());
        let page = ask(daemon, Method::GET, &path, None).await;
        events.extend(page["events"].as_array().unwrap().iter().map(|record| record["event"].clone()));
        more = page["hasMore"].as_bool().unwrap();
    }
    events
}
