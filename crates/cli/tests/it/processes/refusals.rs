//! daemon-13, daemon-4: what is refused, and in which words.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::TestDaemon;

use super::*;
use crate::{check_problem, problem};

const UNKNOWN: &str = "prc_00000000000000000000000000000000";

#[tokio::test]
async fn an_unknown_process_is_told_by_every_route() {
    let daemon = TestDaemon::start(TOMBOLO);
    let size = json!({ "columns": 1, "rows": 1 });
    let answers = [
        daemon.get(&path(UNKNOWN, "")).await,
        daemon.get(&path(UNKNOWN, "/logs")).await,
        daemon.get(&path(UNKNOWN, "/logs?follow=true")).await,
        daemon.get(&path(UNKNOWN, "/terminal")).await,
        input(&daemon, UNKNOWN, "", b"x").await,
        daemon.post(&path(UNKNOWN, "/signal"), &json!({ "signal": "TERM" })).await,
        daemon.post(&path(UNKNOWN, "/resize"), &size).await,
        daemon.post_text(&path(UNKNOWN, "/wait"), "").await,
    ];
    for answer in answers {
        check_problem(&problem(answer).await, 404, "urn:problem:process-not-found");
    }
    assert_eq!(daemon.delete(&path(UNKNOWN, "")).await.status(), 204);
}

async fn check_start(daemon: &TestDaemon, start: Value, kind: &str, detail: &str) {
    let refused = problem(daemon.post("/v1/processes", &start).await).await;
    check_problem(&refused, 400, kind);
    assert!(refused["detail"].as_str().unwrap().contains(detail), "{refused}");
}

#[tokio::test]
async fn what_cannot_be_started_is_refused_by_name() {
    let daemon = TestDaemon::start(TOMBOLO);
    let invalid = "urn:problem:invalid-request";
    check_start(&daemon, json!({}), invalid, "command").await;
    check_start(&daemon, json!({ "command": "" }), invalid, "command").await;
    check_start(&daemon, json!({ "command": "sh", "shell": true }), invalid, "shell").await;
    check_start(&daemon, json!({ "command": "sh", "cwd": "/no/such" }), invalid, "/no/such").await;
    check_start(&daemon, json!({ "command": "sh", "env": { "A=B": "" } }), invalid, "A=B").await;
    check_start(
        &daemon,
        json!({ "command": "sh", "terminal": { "columns": 0, "rows": 1 } }),
        invalid,
        "column",
    )
    .await;
    let start = json!({ "command": "no-such-program" });
    check_start(&daemon, start, "urn:problem:process-start", "no such program").await;
    let bad = problem(daemon.post_text("/v1/processes", "{").await).await;
    check_problem(&bad, 400, invalid);
    let list: Value = daemon.get("/v1/processes").await.json().await.unwrap();
    assert_eq!(list["items"], json!([]));
}

#[tokio::test]
async fn bad_parameters_are_named() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = sh(&daemon, "sleep 600").await;
    for (method, of, named) in [
        (Method::GET, "/logs?limit=0", "limit"),
        (Method::GET, "/logs?limit=1001", "limit"),
        (Method::GET, "/logs?cursor=x", "cursor"),
        (Method::GET, "/logs?since=1", "since"),
        (Method::POST, "/wait?timeoutMs=0", "timeoutMs"),
        (Method::POST, "/input?close=maybe", "close"),
    ] {
        let refused = problem(daemon.request(method, &path(&id, of)).send().await.unwrap()).await;
        check_problem(&refused, 400, "urn:problem:invalid-request");
        assert!(refused["detail"].as_str().unwrap().contains(named), "{refused}");
    }
    let signal = problem(daemon.post(&path(&id, "/signal"), &json!({ "signal": "SEGV" })).await).await;
    check_problem(&signal, 400, "urn:problem:invalid-request");
    let malformed = problem(daemon.get("/v1/processes/1").await).await;
    check_problem(&malformed, 400, "urn:problem:invalid-request");
}

#[tokio::test]
async fn a_terminal_is_asked_for_as_a_websocket_and_must_be_there() {
    let daemon = TestDaemon::start(TOMBOLO);
    let pipes = sh(&daemon, "sleep 600").await;
    let size = json!({ "columns": 1, "rows": 1 });
    check_problem(
        &problem(daemon.get(&path(&pipes, "/terminal")).await).await,
        409,
        "urn:problem:not-a-terminal",
    );
    let resized = problem(daemon.post(&path(&pipes, "/resize"), &size).await).await;
    check_problem(&resized, 409, "urn:problem:not-a-terminal");
    let terminal = sh_on_terminal(&daemon, "sleep 600").await;
    let plain = daemon.get(&path(&terminal, "/terminal")).await;
    assert_eq!(plain.headers()["upgrade"], "websocket");
    check_problem(&problem(plain).await, 426, "urn:problem:upgrade-required");
}

#[tokio::test]
async fn a_wrong_method_is_told() {
    let daemon = TestDaemon::start(TOMBOLO);
    for (method, path) in [
        (Method::PUT, "/v1/processes".to_owned()),
        (Method::POST, path(UNKNOWN, "")),
        (Method::DELETE, path(UNKNOWN, "/logs")),
        (Method::GET, path(UNKNOWN, "/input")),
        (Method::POST, path(UNKNOWN, "/terminal")),
    ] {
        let refused = problem(daemon.request(method, &path).send().await.unwrap()).await;
        check_problem(&refused, 405, "urn:problem:method-not-allowed");
    }
}
