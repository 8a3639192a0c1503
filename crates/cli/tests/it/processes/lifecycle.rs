//! daemon-13: "start, list, wait".

use serde_json::{Value, json};
use testkit::{TestDaemon, TestDaemonOptions, within};

use super::*;
use crate::secs;

#[tokio::test]
async fn a_process_is_started_listed_waited_for_and_deleted() {
    let daemon = TestDaemon::start(TOMBOLO);
    let cat = start(&daemon, &json!({ "command": "cat", "args": ["-u"] })).await;
    let id = cat["id"].as_str().unwrap();
    let expected = json!({
        "id": id, "command": "cat", "args": ["-u"], "cwd": daemon.home(), "terminal": null, "pid": cat["pid"],
        "state": "running", "startedAt": cat["startedAt"], "exit": null,
    });
    assert_eq!(cat, expected);
    assert!(cat["pid"].as_u64().is_some_and(|pid| pid > 0));
    let second = sh_on_terminal(&daemon, "read x").await;
    let list: Value = daemon.get("/v1/processes").await.json().await.unwrap();
    let ids: Vec<_> =
        list["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect();
    assert_eq!((ids, &list["nextCursor"]), (vec![id, second.as_str()], &Value::Null));
    let read: Value = daemon.get(&path(&second, "")).await.json().await.unwrap();
    assert_eq!((&read["terminal"], &list["items"][1]), (&json!({ "columns": 80, "rows": 24 }), &read));

    assert_eq!(input(&daemon, id, "?close=true", b"").await.status(), 204);
    let process = ended(&daemon, id).await;
    assert_eq!((&process["exit"]["code"], &process["exit"]["signal"]), (&json!(0), &Value::Null));
    for _ in 0..2 {
        assert_eq!(daemon.delete(&path(id, "")).await.status(), 204);
    }
    assert_eq!(daemon.get(&path(id, "")).await.status(), 404);
}

/// After the timeout the answer is the process as it is, and the process is left alone.
#[tokio::test]
async fn waiting_has_an_end_of_its_own() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = sh(&daemon, "read x; exit 4").await;
    let waited = daemon.post_text(&path(&id, "/wait?timeoutMs=1"), "").await;
    assert_eq!(waited.status(), 200);
    assert_eq!(waited.json::<Value>().await.unwrap()["state"], "running");
    let (process, sent) = tokio::join!(ended(&daemon, &id), input(&daemon, &id, "", b"\n"));
    assert_eq!((sent.status().as_u16(), &process["exit"]["code"]), (204, &json!(4)));
}

#[tokio::test]
async fn a_process_gets_its_directory_and_variables_but_not_the_token() {
    let daemon = TestDaemonOptions::default()
        .env("TOMBOLO_TOKEN", "not-for-children")
        .env("KEPT", "kept")
        .start(TOMBOLO);
    let post = |path: &str, body: &Value| {
        let request = daemon.request(Method::POST, path).bearer_auth("not-for-children");
        request.json(body).send()
    };
    let script = "pwd; echo $GREETING $KEPT ${TOMBOLO_TOKEN-none}";
    let start =
        json!({ "command": "sh", "args": ["-c", script], "cwd": "/", "env": { "GREETING": "hello" } });
    assert_eq!(daemon.post("/v1/processes", &start).await.status(), 401);
    let process: Value = post("/v1/processes", &start).await.unwrap().json().await.unwrap();
    let logs = path(process["id"].as_str().unwrap(), "/logs?follow=true");
    let events = daemon.request(Method::GET, &logs).bearer_auth("not-for-children").send().await.unwrap();
    let events = within(secs(20), EventStream::new(events).rest()).await;
    assert_eq!(told(&events).0, "/\nhello kept none\n");
}
