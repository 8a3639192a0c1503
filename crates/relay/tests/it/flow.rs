//! How much of a stream is held.

use std::time::Duration;

use futures_util::StreamExt;
use protocol::relay::RelayErrorCode;
use relay::{Limits, Part};
use serde_json::json;

use crate::support::{BOTH, ask, connect, holds_nothing, outcome, raw_open, raw_request, within};

const GIGABYTE: usize = 1 << 30;

/// relay-47, relay-16: of 1 GB that nobody reads little is held, and 1 000 other requests pass; then it can still be read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_nobody_reads_holds_up_nothing() {
    for via in BOTH {
        let limits = Limits { window_bytes: 100_000, ..Limits::default() };
        let both = connect(via, &limits).await;
        let mut stalled = ask(&both.server, "flood", json!(GIGABYTE)).await;
        // It goes on until there is no more credit: one more message does not fit.
        within(async {
            while both.server.held().unread_bytes + 5000 < limits.window_bytes as usize {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
        .await;
        for number in 0..1000 {
            assert_eq!(within(outcome(&both.server, "echo", json!(number))).await.unwrap(), json!(number));
        }
        let (here, there) = (both.server.held(), both.device.held());
        assert!(here.unread_bytes_peak <= limits.window_bytes as usize, "{here:?}");
        assert!(there.unsent_bytes_peak <= limits.unsent_bytes_max as usize + 5000, "{there:?}");
        for _ in 0..1000 {
            assert!(matches!(within(stalled.next()).await, Some(Part::Stream(_))));
        }
        drop(stalled);
        within(both.at_device.works_on(0)).await;
        holds_nothing(&both.server).await;
        holds_nothing(&both.device).await;
    }
}

/// relay-47, relay-34: as many streams as there may be that nobody reads hold a window each, and no more, on both sides; the
/// heartbeat goes on (relay-56), and so do other requests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_streams_that_nobody_reads_are_bounded() {
    for via in BOTH {
        let limits = Limits {
            window_bytes: 20_000,
            unsent_bytes_max: 10_000,
            heartbeat: Duration::from_millis(100),
            ..Limits::default()
        };
        let mut both = connect(via, &limits).await;
        let mut stalled = Vec::new();
        for _ in 0..63 {
            stalled.push(ask(&both.server, "flood", json!(GIGABYTE)).await);
        }
        // All of them are out of credit: less than one more message fits for each.
        within(async {
            while both.server.held().unread_bytes + 63 * 5000 < 63 * 20_000 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
        .await;
        for number in 0..100 {
            assert_eq!(within(outcome(&both.server, "echo", json!(number))).await.unwrap(), json!(number));
        }
        // Dead would be whoever does not answer for 400 ms.
        let dead = tokio::time::timeout(Duration::from_secs(1), both.driving.tasks.join_next()).await;
        assert!(dead.is_err(), "{dead:?}");
        let (here, there) = (both.server.held(), both.device.held());
        assert!(here.unread_bytes_peak <= 63 * 20_000, "{here:?}");
        assert!(there.unsent_bytes_peak <= 63 * 10_000, "{there:?}");
        drop(stalled);
        holds_nothing(&both.server).await;
        holds_nothing(&both.device).await;
    }
}

/// relay-47: messages of all sizes arrive, also those that are larger than the window.
#[tokio::test]
async fn a_message_that_is_larger_than_the_window_arrives() {
    let limits = Limits { window_bytes: 1000, unsent_bytes_max: 500, ..Limits::default() };
    for via in BOTH {
        let both = connect(via, &limits).await;
        let sizes = [10, 5000, 0, 400, 450, 480, 350, 900, 100_000, 1, 1000];
        let mut call = ask(&both.server, "blocks", json!(sizes)).await;
        for size in sizes {
            let Some(Part::Stream(frame)) = within(call.next()).await else { panic!("{size}") };
            assert_eq!(frame.data.read::<String>().unwrap().len(), size);
        }
        assert!(matches!(within(call.next()).await, Some(Part::Outcome(Ok(_)))));
    }
}

/// relay-47: a producer stops at its credit and goes on when it is granted more; its outcome needs none.
#[tokio::test(start_paused = true)]
async fn a_producer_stops_at_its_credit() {
    let (mut raw, _peer, provider, _tasks) = raw_open(&Limits::default(), Some(130)).await;
    raw.say(raw_request("a", "count", json!(5))).await;
    // Each of them is between 60 and 65 bytes: two fit.
    let mut heard = vec![raw.hears().await.unwrap(), raw.hears().await.unwrap()];
    tokio::time::sleep(Duration::from_secs(1)).await;
    within(provider.works_on(1)).await;
    // What is granted to nobody, or beyond all measure, does no harm.
    for (id, bytes) in [("b", u64::MAX), ("a", u64::MAX)] {
        let payload = json!({ "id": id, "bytes": bytes });
        raw.say(json!({ "type": "event", "event": "stream.credit", "payload": payload })).await;
    }
    heard.extend([raw.hears().await.unwrap(), raw.hears().await.unwrap()]);
    tokio::time::sleep(Duration::from_secs(1)).await;
    within(provider.works_on(1)).await;
    let payload = json!({ "id": "a", "bytes": 100 });
    raw.say(json!({ "type": "event", "event": "stream.credit", "payload": payload })).await;
    heard.push(raw.hears().await.unwrap());
    assert!(heard.iter().enumerate().all(|(seq, frame)| frame["seq"] == seq), "{heard:?}");
    assert_eq!(raw.hears().await.unwrap()["result"], "counted");
}

/// relay-47: a window beyond all measure, and credit for it, does no harm.
#[tokio::test]
async fn a_window_beyond_all_measure_does_no_harm() {
    let (mut raw, _peer, provider, _tasks) = raw_open(&Limits::default(), Some(u64::MAX)).await;
    raw.say(raw_request("a", "wait", json!({}))).await;
    within(provider.works_on(1)).await;
    for bytes in [1, u64::MAX] {
        let payload = json!({ "id": "a", "bytes": bytes });
        raw.say(json!({ "type": "event", "event": "stream.credit", "payload": payload })).await;
    }
    raw.say(raw_request("b", "count", json!(1))).await;
    assert_eq!(raw.hears().await.unwrap()["data"], 0);
    assert_eq!(raw.hears().await.unwrap()["result"], "counted");
}

/// relay-47: a producer that sends more than it has credit for breaks the connection.
#[tokio::test]
async fn a_producer_that_ignores_its_credit_is_closed() {
    let (mut raw, peer, _, _tasks) =
        raw_open(&Limits { window_bytes: 1000, ..Limits::default() }, Some(1000)).await;
    let call = ask(&peer, "wait", json!({})).await;
    assert_eq!(raw.hears().await.unwrap()["id"], "req_0");
    for seq in 0..3 {
        let data = "x".repeat(400);
        raw.say(json!({ "type": "stream", "id": "req_0", "event": "log", "seq": seq, "data": data })).await;
    }
    assert_eq!(raw.closed().await, 1008);
    assert_eq!(within(call.outcome()).await.unwrap_err().code, RelayErrorCode::RelayDisconnected);
}

/// relay-47: what a peer without credit sends to somebody who does not read costs it that request, and no other.
#[tokio::test]
async fn a_peer_without_credit_overruns_only_its_request() {
    let (mut raw, peer, _, _tasks) =
        raw_open(&Limits { window_bytes: 1000, ..Limits::default() }, None).await;
    let (slow, other) = (ask(&peer, "wait", json!({})).await, ask(&peer, "wait", json!({})).await);
    for id in ["req_0", "req_1"] {
        assert_eq!(raw.hears().await.unwrap()["id"], id);
    }
    for seq in 0..3 {
        let data = "x".repeat(400);
        raw.say(json!({ "type": "stream", "id": "req_0", "event": "log", "seq": seq, "data": data })).await;
    }
    assert_eq!(
        raw.hears().await.unwrap(),
        json!({ "type": "cancel", "id": "req_0", "reason": "slow_consumer" })
    );
    raw.say(json!({ "type": "response", "id": "req_1", "result": 1 })).await;
    assert!(within(other.outcome()).await.is_ok());
    let error = within(slow.outcome()).await.unwrap_err();
    assert_eq!(
        (error.code, &error.details["reason"]),
        (RelayErrorCode::ProviderError, &json!("slow_consumer"))
    );
    assert!(peer.held().unread_bytes_peak <= 1000);
}

/// relay-47: to a peer without credit little waits to be sent, and a response overtakes the streams of others.
#[tokio::test(start_paused = true)]
async fn without_credit_a_producer_stops_at_a_full_buffer() {
    let limits = Limits { unsent_bytes_max: 50_000, ..Limits::default() };
    let (mut raw, peer, _, _tasks) = raw_open(&limits, None).await;
    for id in ["a", "b"] {
        raw.say(raw_request(id, "flood", json!(GIGABYTE))).await;
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!((90_000..=100_000).contains(&peer.held().unsent_bytes), "{:?}", peer.held());
    raw.say(raw_request("c", "echo", json!(1))).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut before = Vec::new();
    loop {
        let frame = raw.hears().await.unwrap();
        if frame["id"] == "c" {
            break;
        }
        before.push(frame);
    }
    assert!(before.len() <= 5, "{}", before.len());
    // Those that flood have turns.
    let ids: Vec<_> = before.iter().map(|frame| frame["id"].as_str().unwrap()).collect();
    let mut next = raw.hears().await.unwrap();
    for _ in 0..20 {
        let other = raw.hears().await.unwrap();
        assert_ne!(next["id"], other["id"], "{ids:?}");
        next = other;
    }
}

/// relay-16: what overtakes a stream does not stop it.
#[tokio::test(start_paused = true)]
async fn a_stream_has_its_turn_among_many_responses() {
    let (mut raw, _peer, _, _tasks) = raw_open(&Limits::default(), None).await;
    raw.say(raw_request("a", "flood", json!(GIGABYTE))).await;
    for id in 0..60 {
        raw.say(raw_request(&id.to_string(), "echo", json!(1))).await;
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (mut responses, mut in_a_row) = (0, 0);
    while responses < 60 {
        in_a_row = if raw.hears().await.unwrap()["type"] == "stream" { 0 } else { in_a_row + 1 };
        responses += usize::from(in_a_row > 0);
        assert!(in_a_row <= 8, "{responses}");
    }
}
