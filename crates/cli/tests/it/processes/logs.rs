//! daemon-13: "logs with follow".

use serde_json::{Value, json};
use testkit::{TestDaemon, within};

use super::*;
use crate::secs;

#[tokio::test]
async fn output_is_followed_to_the_end() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = sh(&daemon, "read x; echo out; read x; echo err >&2; read x; exit 3").await;
    let mut events = follow(&daemon, &id).await;
    input(&daemon, &id, "", b"\n").await;
    let first = within(secs(20), events.next_of("output")).await;
    let data: Value = serde_json::from_str(&first.data).unwrap();
    let expected = json!({ "seq": 1, "stream": "stdout", "loggedAt": data["loggedAt"], "text": "out\n" });
    assert_eq!((first.id, data), (Some(1), expected));
    input(&daemon, &id, "", b"\n").await;
    let second = within(secs(20), events.next_of("output")).await;
    assert!(second.data.contains("\"stream\":\"stderr\""), "{}", second.data);
    input(&daemon, &id, "", b"\n").await;
    let rest = within(secs(20), events.rest()).await;
    assert_eq!((rest.len(), rest[0].event.as_str(), rest[0].id), (1, "exited", None));
    let exit: Value = serde_json::from_str(&rest[0].data).unwrap();
    assert_eq!((&exit["code"], &exit["signal"]), (&json!(3), &Value::Null));
    let process: Value = daemon.get(&path(&id, "")).await.json().await.unwrap();
    assert_eq!(process["exit"], exit);
}

/// A stream goes on after the event that was read last, also when the process has ended in between.
#[tokio::test]
async fn a_stream_is_resumed_where_it_was_left() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = sh(&daemon, "for i in 1 2 3; do read x; echo $x; done").await;
    let mut events = follow(&daemon, &id).await;
    for line in [&b"one\n"[..], b"two\n", b"three\n"] {
        input(&daemon, &id, "", line).await;
        assert_eq!(text(&mut events).await.as_bytes(), line);
    }
    ended(&daemon, &id).await;
    let logs = path(&id, "/logs?follow=true");
    for (query, header, expected) in [
        ("", None, "one\ntwo\nthree\n"),
        ("&cursor=1", None, "two\nthree\n"),
        ("&after=1", Some("2"), "three\n"),
        ("", Some("3"), ""),
    ] {
        let mut request = daemon.request(Method::GET, &format!("{logs}{query}"));
        if let Some(last) = header {
            request = request.header("last-event-id", last);
        }
        let events = within(secs(20), EventStream::new(request.send().await.unwrap()).rest()).await;
        let (text, last) = told(&events);
        assert_eq!((text.as_str(), last.event.as_str()), (expected, "exited"));
    }
}

#[tokio::test]
async fn pages_lead_to_the_end_of_the_log() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = sh(&daemon, "for i in 1 2 3; do read x; echo $x; done").await;
    let mut events = follow(&daemon, &id).await;
    let empty: Value = daemon.get(&path(&id, "/logs")).await.json().await.unwrap();
    assert_eq!(empty, json!({ "items": [], "gap": null, "nextCursor": "0" }));
    for line in [&b"one\n"[..], b"two\n", b"three\n"] {
        input(&daemon, &id, "", line).await;
        text(&mut events).await;
    }
    ended(&daemon, &id).await;
    let page: Value = daemon.get(&path(&id, "/logs?limit=2")).await.json().await.unwrap();
    assert_eq!((page["items"].as_array().unwrap().len(), &page["nextCursor"]), (2, &json!("2")));
    let page: Value = daemon.get(&path(&id, "/logs?after=2")).await.json().await.unwrap();
    assert_eq!((&page["items"][0]["text"], &page["nextCursor"]), (&json!("three\n"), &Value::Null));
    let beyond: Value = daemon.get(&path(&id, "/logs?cursor=99")).await.json().await.unwrap();
    assert_eq!((&beyond["gap"]["oldest"], beyond["items"].as_array().unwrap().len()), (&json!(1), 3));
}

/// What is no longer kept is told, never skipped in silence.
#[tokio::test]
async fn a_gap_is_told() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = sh(&daemon, "head -c 20000000 /dev/zero").await;
    ended(&daemon, &id).await;
    let mut events = EventStream::new(daemon.get(&path(&id, "/logs?follow=true&cursor=1")).await);
    let gap = within(secs(20), events.next()).await.unwrap();
    let data: Value = serde_json::from_str(&gap.data).unwrap();
    assert_eq!((gap.event.as_str(), gap.id), ("gap", None));
    let next = within(secs(20), events.next()).await.unwrap();
    assert_eq!((next.event.as_str(), next.id), ("output", data["oldest"].as_u64()));
    assert!(next.id > Some(2));
}
