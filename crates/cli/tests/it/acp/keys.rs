//! `Idempotency-Key`: a message that is sent again is handed to the agent once.

use reqwest::{Method, Response};
use serde_json::{Value, json};
use testkit::{TestDaemon, TestDaemonOptions, within};

use super::*;
use crate::secs;

async fn post(daemon: &TestDaemon, path: &str, key: &str, body: &Value) -> Response {
    let request = daemon.request(Method::POST, path).header("idempotency-key", key);
    request.json(body).send().await.unwrap()
}

fn note(number: u64) -> Value {
    json!({ "jsonrpc": "2.0", "method": "n", "params": number })
}

/// What an echoing agent was told so far; the last message that it was sent is `last`.
async fn heard(daemon: &TestDaemon, last: u64) -> Vec<u64> {
    let mut events = daemon.events("a", None).await;
    let mut heard = Vec::new();
    while heard.last() != Some(&last) {
        let message: Value =
            serde_json::from_str(&within(secs(10), events.next_of("message")).await.data).unwrap();
        heard.push(message["params"].as_u64().unwrap());
    }
    heard
}

fn echo() -> TestDaemon {
    TestDaemonOptions::default().agent("cat", &["cat"]).start(TOMBOLO)
}

#[tokio::test]
async fn a_repeated_key_is_accepted_and_the_agent_hears_it_once() {
    let daemon = echo();
    for key in ["k1", "k1", "k2", "k1", "k2"] {
        let number = if key == "k1" { 1 } else { 2 };
        let answer = post(&daemon, "/v1/acp/a?agent=cat", key, &note(number)).await;
        assert_eq!(answer.status(), 202);
    }
    // Without a key nothing is remembered.
    for _ in 0..2 {
        assert_eq!(daemon.post("/v1/acp/a", &note(3)).await.status(), 202);
    }
    post(&daemon, "/v1/acp/a", "end", &note(9)).await;
    assert_eq!(heard(&daemon, 9).await, [1, 2, 3, 3, 9]);
}

#[tokio::test]
async fn of_racing_messages_with_one_key_one_is_handed_over() {
    let daemon = echo();
    let posts: tokio::task::JoinSet<_> = (0..50)
        .map(|_| {
            let request = daemon.request(Method::POST, "/v1/acp/a?agent=cat").header("idempotency-key", "k");
            let request = request.json(&note(1));
            async move { request.send().await.unwrap().status().as_u16() }
        })
        .collect();
    assert_eq!(posts.join_all().await, [202; 50]);
    post(&daemon, "/v1/acp/a", "end", &note(9)).await;
    assert_eq!(heard(&daemon, 9).await, [1, 9]);
}

#[tokio::test]
async fn a_key_belongs_to_one_message_of_one_instance() {
    let daemon = echo();
    post(&daemon, "/v1/acp/a?agent=cat", "k", &note(1)).await;
    let reused = problem(post(&daemon, "/v1/acp/a?agent=cat", "k", &note(2)).await).await;
    check_problem(&reused, 422, "urn:problem:idempotency-key-reused");
    assert_eq!(post(&daemon, "/v1/acp/b?agent=cat", "k", &note(2)).await.status(), 202);
    for bad in ["", "two words", &"x".repeat(129)] {
        let refused = problem(post(&daemon, "/v1/acp/a", bad, &note(3)).await).await;
        check_problem(&refused, 400, "urn:problem:invalid-request");
    }
    post(&daemon, "/v1/acp/a", "end", &note(9)).await;
    assert_eq!(heard(&daemon, 9).await, [1, 9]);
}

/// acp-9: the id is in flight, and yet its own repetition is no conflict.
#[tokio::test]
async fn a_request_that_runs_is_not_in_its_own_way() {
    let daemon = TestDaemon::start(TOMBOLO);
    let hang = || daemon.request(Method::POST, "/v1/acp/a?agent=mock").header("idempotency-key", "k");
    let first = hang().header("prefer", "respond-async").json(&prompt(1, "/hang")).send().await.unwrap();
    assert_eq!(first.status(), 202);
    assert_eq!(hang().json(&prompt(1, "/hang")).send().await.unwrap().status(), 202);
    let other = post(&daemon, "/v1/acp/a", "other", &prompt(1, "/hang")).await;
    check_problem(&problem(other).await, 409, "urn:problem:id-in-flight");
}

/// acp-12: what was handed over and killed the agent does not start it anew when it comes again.
#[tokio::test]
async fn a_repeated_message_starts_no_agent() {
    let daemon = TestDaemon::start(TOMBOLO);
    let last = prompt(1, "/crash 3");
    let crash = || post(&daemon, "/v1/acp/a?agent=mock", "k", &last);
    check_problem(&problem(crash().await).await, 502, "urn:problem:agent-exited");
    assert_eq!(crash().await.status(), 202);
    assert_eq!(daemon.instance("a").await["state"], "exited");
}

/// A message that was refused was not handed over, so its key is free.
#[tokio::test]
async fn what_was_refused_may_be_sent_again() {
    let daemon = echo();
    let refused = problem(post(&daemon, "/v1/acp/a", "k", &note(1)).await).await;
    check_problem(&refused, 400, "urn:problem:agent-required");
    assert_eq!(post(&daemon, "/v1/acp/a?agent=cat", "k", &note(1)).await.status(), 202);
    post(&daemon, "/v1/acp/a", "end", &note(9)).await;
    assert_eq!(heard(&daemon, 9).await, [1, 9]);
}

/// daemon-3: the command line has the header too.
#[tokio::test]
async fn a_key_can_be_given_on_the_command_line() {
    let daemon = echo();
    for _ in 0..2 {
        let mut command = std::process::Command::new(TOMBOLO);
        command.args(["api", "acp", "send", "a", "--agent", "cat", "--idempotency-key", "k"]);
        command.args([&note(1).to_string(), "--endpoint", daemon.base()]).env_remove("TOMBOLO_TOKEN");
        assert!(command.output().unwrap().status.success());
    }
    post(&daemon, "/v1/acp/a", "end", &note(9)).await;
    assert_eq!(heard(&daemon, 9).await, [1, 9]);
}
