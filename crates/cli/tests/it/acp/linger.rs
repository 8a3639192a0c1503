//! Instances that are deleted once nobody is there for them.

use std::{path::PathBuf, time::Duration};

use testkit::within;

use super::*;
use crate::secs;

/// How long they linger here.
const LINGER: &str = "lingerMs=300";

async fn ids(daemon: &TestDaemon) -> Vec<String> {
    let list: Value = daemon.get("/v1/acp").await.json().await.unwrap();
    let items = list["items"].as_array().unwrap().iter();
    items.map(|item| item["serverId"].as_str().unwrap().to_owned()).collect()
}

/// Waits until an instance is gone.
async fn gone(daemon: &TestDaemon, id: &str) {
    let gone = async {
        while ids(daemon).await.iter().any(|there| there == id) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    within(secs(10), gone).await;
}

/// Waits until an instance has come and gone that nobody is there for: the others had their time too.
async fn linger(daemon: &TestDaemon, id: &str) {
    daemon.post(&format!("/v1/acp/{id}?agent=mock&{LINGER}"), &request(1, "initialize")).await;
    gone(daemon, id).await;
}

/// An instance goes with its process when its last reader does; one that was not told to linger stays.
#[tokio::test]
async fn an_instance_lingers_after_its_last_reader() {
    let daemon = TestDaemon::start(TOMBOLO);
    daemon.post("/v1/acp/stays?agent=mock", &request(1, "initialize")).await;
    daemon.post(&format!("/v1/acp/a?agent=mock&{LINGER}"), &request(1, "initialize")).await;
    let instance = daemon.instance("a").await;
    assert_eq!(instance["lingerMs"], 300);
    let (one, two) = (daemon.events("a", None).await, daemon.events("a", None).await);
    linger(&daemon, "x").await;
    drop(one);
    linger(&daemon, "y").await;
    assert_eq!(ids(&daemon).await, ["a", "stays"], "somebody reads");
    drop(two);
    gone(&daemon, "a").await;
    let process = PathBuf::from(format!("/proc/{}", instance["pid"]));
    assert!(!process.exists());
    assert_eq!(daemon.instance("stays").await["lingerMs"], Value::Null);
}

/// A request that somebody waits for keeps the instance; one whose client is gone does not.
#[tokio::test]
async fn an_instance_stays_while_a_request_is_waited_for() {
    let daemon = TestDaemon::start(TOMBOLO);
    let path = format!("/v1/acp/a?agent=mock&{LINGER}");
    let waits = daemon.request(reqwest::Method::POST, &path).json(&prompt(1, "/hang"));
    let mut waiting = tokio::task::JoinSet::new();
    waiting.spawn(waits.send());
    linger(&daemon, "x").await;
    assert_eq!(daemon.instance("a").await["pendingRequests"], 1);
    waiting.shutdown().await;
    gone(&daemon, "a").await;
}

/// One that was prepared and never used goes too.
#[tokio::test]
async fn a_prepared_instance_lingers() {
    let daemon = TestDaemon::start(TOMBOLO);
    daemon.put("/v1/acp/a", &json!({ "agent": "mock", "lingerMs": 300 })).await;
    assert_eq!(daemon.instance("a").await["lingerMs"], 300);
    gone(&daemon, "a").await;
}

#[tokio::test]
async fn a_senseless_time_is_refused() {
    let daemon = TestDaemon::start(TOMBOLO);
    for ms in ["0", "604800001"] {
        let answer =
            daemon.post(&format!("/v1/acp/a?agent=mock&lingerMs={ms}"), &request(1, "initialize")).await;
        check_problem(&problem(answer).await, 400, "urn:problem:invalid-request");
        let linger: u64 = ms.parse().unwrap();
        let answer = daemon.put("/v1/acp/a", &json!({ "agent": "mock", "lingerMs": linger })).await;
        check_problem(&problem(answer).await, 400, "urn:problem:invalid-request");
    }
    assert!(ids(&daemon).await.is_empty());
}
