//! Who is told of credit.

use futures_util::StreamExt;
use relay::{Limits, Lost, Part, Peer, Side, pair};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::support::{Provider, Raw, ask, hello, raw_open, raw_request, within};

/// How many parts of a stream are read, each of a bit more than 300 bytes: some windows.
const PARTS: usize = 300;

fn limits() -> Limits {
    Limits { window_bytes: 20_000, ..Limits::default() }
}

/// A device, and a server that has accepted it; it knows credit if it has a window.
async fn device_open(window: Option<u64>) -> (Raw, Peer, JoinSet<Lost>) {
    let (here, there) = pair();
    let side = Side::Device(hello("client_1").into());
    let (peer, driver) = Peer::start(here, Provider::new().0, side, limits());
    let mut tasks = JoinSet::new();
    tasks.spawn(driver);
    let mut raw = Raw(there);
    assert_eq!(raw.hears().await.unwrap()["type"], "hello");
    let mut payload =
        json!({ "connection_id": "c", "accepted_capabilities": [], "server_time": "2026-01-01T00:00:00Z" });
    if let Some(window) = window {
        payload["flow"] = json!({ "window_bytes": window });
    }
    raw.say(json!({ "type": "event", "event": "relay.accepted", "payload": payload })).await;
    within(peer.accepted()).await.unwrap();
    (raw, peer, tasks)
}

/// What is said to somebody whose stream is read to its end.
async fn told(raw: &mut Raw, peer: &Peer) -> Vec<Value> {
    let mut call = ask(peer, "wait", json!({})).await;
    let id = raw.hears().await.unwrap()["id"].clone();
    for seq in 0..PARTS {
        let data = "x".repeat(300);
        raw.say(json!({ "type": "stream", "id": id, "event": "log", "seq": seq, "data": data })).await;
        assert!(matches!(within(call.next()).await, Some(Part::Stream(_))));
    }
    raw.say(json!({ "type": "response", "id": id, "result": {} })).await;
    assert!(matches!(within(call.next()).await, Some(Part::Outcome(Ok(_)))));
    raw.say(raw_request("last", "echo", json!(1))).await;
    let mut told = Vec::new();
    loop {
        let frame = raw.hears().await.unwrap();
        if frame["id"] == "last" {
            return told;
        }
        told.push(frame["event"].clone());
    }
}

/// relay-28: credit is said to those who know it and to nobody else, on either side, however much of a stream is read.
#[tokio::test]
async fn only_who_knows_credit_is_told_of_it() {
    for window in [None, Some(20_000)] {
        let (mut raw, peer, _, _tasks) = raw_open(&limits(), window).await;
        let by_server = told(&mut raw, &peer).await;
        let (mut raw, peer, _tasks) = device_open(window).await;
        let by_device = told(&mut raw, &peer).await;
        for told in [by_server, by_device] {
            match window {
                None => assert_eq!(told, [Value::Null; 0]),
                Some(_) => assert!(told.len() > 2 && told.iter().all(|event| event == "stream.credit")),
            }
        }
    }
}
