//! The hub as people meet it: the real hub, real daemons, real sockets, and the mock agent in place of a model.

mod broken;
mod forwarded;
mod hidden;
mod refused;
pub(crate) mod viewer;
mod watched;
mod wire;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Daemon, DaemonOptions, Hub, within};
use viewer::Viewer;

use crate::{TOMBOLO, secs};

/// What lets the hub into a daemon.
const TOKEN: &str = "a-token-of-the-daemon";

/// A daemon that needs a token, and a hub that knows it as `box`.
async fn both() -> (Daemon, Hub) {
    let daemon = DaemonOptions::default().env("TOMBOLO_TOKEN", TOKEN).start(TOMBOLO);
    let hub = Hub::start(TOMBOLO);
    hub.add("box", daemon.base(), Some(TOKEN)).await;
    (daemon, hub)
}

/// Asks the daemon itself.
async fn ask(daemon: &Daemon, method: Method, path: &str, body: Option<Value>) -> Value {
    let mut request = daemon.request(method, path).bearer_auth(TOKEN);
    if let Some(body) = body {
        request = request.json(&body);
    }
    let response = request.send().await.unwrap();
    assert!(response.status().is_success(), "{path}: {}", response.text().await.unwrap());
    response.json().await.unwrap_or_default()
}

async fn create(daemon: &Daemon, id: &str) {
    ask(daemon, Method::POST, &format!("/v1/sessions/{id}"), Some(json!({ "agent": "mock" }))).await;
}

async fn send(daemon: &Daemon, id: &str, message: &str) {
    let path = format!("/v1/sessions/{id}/messages");
    ask(daemon, Method::POST, &path, Some(json!({ "message": message }))).await;
}

/// Everything that happened in a session, as the daemon has it.
async fn events(daemon: &Daemon, id: &str) -> Vec<Value> {
    let (mut events, mut more) = (Vec::new(), true);
    while more {
        let path = format!("/v1/sessions/{id}/events?offset={}", events.len());
        let page = ask(daemon, Method::GET, &path, None).await;
        events.extend(page["events"].as_array().unwrap().iter().map(|record| record["event"].clone()));
        more = page["hasMore"].as_bool().unwrap();
    }
    events
}
