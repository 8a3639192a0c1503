//! Until a device is accepted.

use std::time::Duration;

use protocol::relay::RelayErrorCode;
use relay::{Limits, Lost, Peer, Side, pair};
use serde_json::json;

use crate::support::{Provider, Raw, hello, outcome, raw, raw_hello, raw_open, raw_request, within};

/// relay-15: before it is accepted a device that asks is told so, also if it asks badly.
#[tokio::test]
async fn a_request_before_hello_is_refused() {
    let (mut raw, _peer, provider, _tasks) = raw(&Limits::default());
    raw.say(raw_request("a", "echo", json!(1))).await;
    assert_eq!(raw.hears().await.unwrap()["error"]["code"], "invalid_request");
    raw.say(json!({ "type": "request", "id": "b" })).await;
    assert_eq!(raw.hears().await.unwrap()["error"]["code"], "invalid_request");
    raw.say(raw_hello(json!({}))).await;
    assert_eq!(raw.hears().await.unwrap()["event"], "relay.accepted");
    raw.say(raw_request("a", "echo", json!(1))).await;
    assert_eq!(raw.hears().await.unwrap()["result"], 1);
    assert_eq!(provider.started.load(std::sync::atomic::Ordering::SeqCst), 1);
}

/// relay-15: anything else before it is accepted closes, as does a second hello.
#[tokio::test]
async fn anything_else_before_hello_closes() {
    for frame in [
        json!({ "type": "ping", "id": "p", "ts": "2026-01-01T00:00:00Z" }),
        json!({ "type": "event", "event": "relay.accepted", "payload": {} }),
        json!({ "type": "cancel", "id": "a" }),
        json!({ "type": "response", "id": "req_0", "result": {} }),
    ] {
        let (mut raw, _peer, _, _tasks) = raw(&Limits::default());
        raw.say(frame.clone()).await;
        assert_eq!(raw.closed().await, 1008, "{frame}");
    }
    let (mut raw, _peer, _, _tasks) = raw_open(&Limits::default(), None).await;
    raw.say(raw_hello(json!({}))).await;
    assert_eq!(raw.closed().await, 1008);
}

/// relay-15: the same holds for a device that hears something before it is accepted.
#[tokio::test]
async fn a_device_hears_nothing_before_it_is_accepted() {
    let (here, there) = pair();
    let (device, driver) =
        Peer::start(here, Provider::new().0, Side::Device(hello("d").into()), Limits::default());
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(driver);
    let mut raw = Raw(there);
    assert_eq!(raw.hears().await.unwrap()["capabilities"]["flow"]["window_bytes"], 256 << 10);
    raw.say(raw_request("a", "echo", json!(1))).await;
    assert_eq!(raw.hears().await.unwrap()["error"]["code"], "invalid_request");
    assert_eq!(
        within(outcome(&device, "echo", json!(1))).await.unwrap_err().code,
        RelayErrorCode::RelayDisconnected
    );
    assert!(device.event("x", protocol::relay::RawJson::empty()).await.is_err());
    raw.say(json!({ "type": "ping", "id": "p", "ts": "2026-01-01T00:00:00Z" })).await;
    assert_eq!(raw.closed().await, 1008);
    assert!(within(device.accepted()).await.is_err());
}

/// relay-18, relay-159: another protocol is refused with both names; so is a device that nobody knows.
#[tokio::test]
async fn a_device_that_is_refused_hears_why() {
    for (field, value, expected) in [
        (
            "protocol",
            "ya-environment-relay.v2",
            "unsupported protocol ya-environment-relay.v2; this side speaks ya-environment-relay.v1",
        ),
        ("client_id", "stranger", "nobody knows stranger"),
    ] {
        let (mut raw, _peer, _, mut tasks) = raw(&Limits::default());
        let mut hello = raw_hello(json!({}));
        hello[field] = value.into();
        raw.say(hello).await;
        let Err(Lost::Closed { code, reason }) = raw.hears().await else { panic!() };
        assert_eq!((code, reason.as_str()), (1008, expected));
        drop(raw);
        assert_eq!(within(tasks.join_next()).await.unwrap().unwrap(), Lost::Refused(expected.into()));
    }
}

/// relay-27: who does not say who it is in time is closed, and so is who is not accepted in time.
#[tokio::test(start_paused = true)]
async fn who_says_nothing_is_closed() {
    for says_hello in [false, true] {
        let (mut raw, _peer, _, _tasks) = raw(&Limits::default());
        let started = tokio::time::Instant::now();
        if says_hello {
            let mut hello = raw_hello(json!({}));
            hello["client_id"] = "slow".into();
            raw.say(hello).await;
        }
        assert_eq!(raw.closed_for().await, (1008, "no hello in time".into()));
        assert_eq!(started.elapsed().as_secs(), Duration::from_secs(10).as_secs());
    }
}

/// relay-28: credit is used only if the device knows it.
#[tokio::test]
async fn credit_is_agreed_on() {
    for (capabilities, agreed) in [
        (json!({}), false),
        (json!({ "flow": { "window_bytes": 0 } }), false),
        (json!({ "flow": { "window_bytes": 1 } }), true),
    ] {
        let (mut raw, _peer, _, _tasks) = raw(&Limits::default());
        raw.say(raw_hello(capabilities)).await;
        let accepted = raw.hears().await.unwrap();
        assert_eq!(accepted["payload"]["connection_id"], "relay_conn_1");
        assert_eq!(accepted["payload"].get("flow").is_some(), agreed);
    }
}
