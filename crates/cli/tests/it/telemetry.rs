//! What is told of requests to those who run daemons and hubs: ids, numbers and traces.

mod collector;
mod ids;
mod numbers;
mod page;
mod traces;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{Daemon, DaemonOptions, Hub, HubOptions, within};

use crate::{TOMBOLO, secs};

/// What lets the hub into a daemon.
const TOKEN: &str = "a-token-of-the-daemon";

fn daemon() -> DaemonOptions {
    DaemonOptions::default().env("TOMBOLO_TOKEN", TOKEN)
}

/// A daemon and a hub that knows it as `box`.
async fn both(daemon: DaemonOptions, hub: HubOptions) -> (Daemon, Hub) {
    let (daemon, hub) = (daemon.start(TOMBOLO), hub.start(TOMBOLO));
    hub.add("box", daemon.base(), Some(TOKEN)).await;
    (daemon, hub)
}

/// Asks the daemon itself.
async fn ask(daemon: &Daemon, method: Method, path: &str, body: Value) -> Value {
    let request = daemon.request(method, path).bearer_auth(TOKEN).json(&body);
    let response = request.send().await.unwrap();
    assert!(response.status().is_success(), "{path}: {}", response.text().await.unwrap());
    response.json().await.unwrap_or_default()
}

/// Creates a session of the mock.
async fn create(daemon: &Daemon, id: &str) {
    ask(daemon, Method::POST, &format!("/v1/sessions/{id}"), json!({ "agent": "mock" })).await;
}

/// Has the agent of a session do something.
async fn send(daemon: &Daemon, id: &str, message: &str) {
    ask(daemon, Method::POST, &format!("/v1/sessions/{id}/messages"), json!({ "message": message })).await;
}

/// Waits until a session is in this state; how many events it has.
async fn until(daemon: &Daemon, id: &str, state: &str) -> u64 {
    let path = format!("/v1/sessions/{id}");
    within(secs(20), async {
        loop {
            let session = daemon.request(Method::GET, &path).bearer_auth(TOKEN).send().await.unwrap();
            let session: Value = session.json().await.unwrap();
            if session["state"] == state && session["queued"] == 0 {
                return session["newest"].as_u64().unwrap();
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}
