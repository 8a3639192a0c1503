//! What is told of requests to those who run daemons and hubs: ids, numbers and traces.

mod collector;
mod ids;
mod numbers;
mod page;
mod promtool;
mod traces;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{TestDaemon, TestDaemonOptions, TestHub, TestHubOptions, within};

use crate::{
    TOMBOLO,
    hub::{TOKEN, ask, create, send},
    secs,
};

fn daemon() -> TestDaemonOptions {
    TestDaemonOptions::default().env("TOMBOLO_TOKEN", TOKEN)
}

/// A daemon and a hub that knows it as `box`.
async fn both(daemon: TestDaemonOptions, hub: TestHubOptions) -> (TestDaemon, TestHub) {
    let (daemon, hub) = (daemon.start(TOMBOLO), hub.start(TOMBOLO));
    hub.add_runtime("box", daemon.base(), Some(TOKEN)).await;
    (daemon, hub)
}

/// Waits until a session is in this state; how many events it has.
async fn until(daemon: &TestDaemon, id: &str, state: &str) -> u64 {
    let path = format!("/v1/sessions/{id}");
    within(secs(20), async {
        loop {
            let session = daemon.request(Method::GET, &path).bearer_auth(TOKEN).send().await.unwrap();
            let session: Value = session.json().await.unwrap();
            if session["state"] == state && session["queuedInputs"] == 0 {
                return session["newestSeq"].as_u64().unwrap();
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}
