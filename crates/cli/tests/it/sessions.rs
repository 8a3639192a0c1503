//! `/v1/sessions` as a client meets it: the real daemon, and the mock agent in place of a model.

mod acp_agents;
mod agent_errors;
mod api;
mod authors;
mod chat;
mod durability;
mod errors;
mod events;
mod inbox;
mod inputs;
mod killed;
mod modes;
mod run;
mod terminal;
mod waits;
mod warnings;
mod watched;

use reqwest::{Method, Response};
use serde_json::{Value, json};
use testkit::{EventStream, TestDaemon, within};

use crate::{TOMBOLO, secs};

/// The path of a session, or of something about it.
fn path(id: &str, of: &str) -> String {
    format!("/v1/sessions/{id}{of}")
}

/// Creates a session with the mock agent; what was answered.
async fn create(daemon: &TestDaemon, id: &str) -> Value {
    create_with(daemon, id, &json!({ "agent": "mock" })).await
}

async fn create_with(daemon: &TestDaemon, id: &str, body: &Value) -> Value {
    let response = daemon.post(&path(id, ""), body).await;
    assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
    response.json().await.unwrap()
}

/// Sends a message; what was answered.
async fn send(daemon: &TestDaemon, id: &str, message: &str) -> Value {
    let response = daemon.post(&path(id, "/messages"), &json!({ "message": message })).await;
    assert_eq!(response.status(), 202, "{}", response.text().await.unwrap());
    response.json().await.unwrap()
}

async fn get(daemon: &TestDaemon, path: &str) -> Value {
    let response = daemon.get(path).await;
    assert_eq!(response.status(), 200, "{path}");
    response.json().await.unwrap()
}

/// All events so far.
async fn all(daemon: &TestDaemon, id: &str) -> Vec<Value> {
    let page = get(daemon, &path(id, "/events")).await;
    assert_eq!(page["hasMore"], false);
    page["events"].as_array().unwrap().clone()
}

/// Follows a session.
struct Followed(EventStream);

impl Followed {
    async fn new(daemon: &TestDaemon, id: &str, offset: u64) -> Self {
        Self(EventStream::new(daemon.get(&path(id, &format!("/events/sse?offset={offset}"))).await))
    }

    /// The next record; none at the end of the stream.
    async fn next(&mut self) -> Option<Value> {
        let event = within(secs(30), self.0.next()).await?;
        assert_eq!(event.event, "message", "{event:?}");
        let record: Value = serde_json::from_str(&event.data).unwrap();
        assert_eq!(record["seq"].as_u64(), event.id);
        Some(record)
    }

    /// The records up to the first of this kind, which is the last.
    async fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut records = Vec::new();
        while let Some(record) = self.next().await {
            let is_it = record["event"].get(kind).is_some();
            records.push(record);
            if is_it {
                return records;
            }
        }
        panic!("the stream ended without `{kind}`: {records:#?}");
    }

    /// The records up to the one that is this many of its kind.
    async fn until_count(&mut self, kind: &str, count: usize) -> Vec<Value> {
        let mut records = Vec::new();
        for _ in 0..count {
            records.extend(self.until(kind).await);
        }
        records
    }

    /// What the next event of this kind says.
    async fn next_of(&mut self, kind: &str) -> Value {
        self.until(kind).await.pop().unwrap()["event"][kind].take()
    }
}

/// Sends a message and waits for the end of its turn; what happened.
async fn turn(daemon: &TestDaemon, id: &str, message: &str) -> Vec<Value> {
    let newest = get(daemon, &path(id, "")).await["newestSeq"].as_u64().unwrap();
    let mut followed = Followed::new(daemon, id, newest).await;
    send(daemon, id, message).await;
    followed.until("turnEnded").await
}

/// What events of a kind say.
fn of<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter_map(|record| record["event"].get(kind)).collect()
}

/// What the agent said in all pieces together.
fn said(records: &[Value]) -> String {
    of(records, "messageDelta").iter().map(|delta| delta["text"].as_str().unwrap()).collect()
}

/// The reason of the last turn that ended.
fn ended(records: &[Value]) -> &str {
    of(records, "turnEnded").last().unwrap()["reason"].as_str().unwrap()
}

async fn answer(daemon: &TestDaemon, id: &str, wait: &str, how: &str, body: &Value) -> Response {
    let kind = if how == "permission" { "permissions" } else { "questions" };
    let verb = if how == "reject" { "reject" } else { "reply" };
    daemon.post(&path(id, &format!("/{kind}/{wait}/{verb}")), body).await
}

async fn send_with(daemon: &TestDaemon, id: &str, body: &Value, key: Option<&str>) -> Response {
    let mut request = daemon.request(Method::POST, &path(id, "/messages")).json(body);
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    request.send().await.unwrap()
}
