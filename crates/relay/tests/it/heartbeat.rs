//! Whether the other side is there.

use std::time::Duration;

use relay::{Limits, Lost};
use serde_json::json;

use crate::support::{BOTH, ask, connect, raw_open, raw_request, within};

/// relay-55: the latency is measured, on both sides.
#[tokio::test]
async fn the_latency_is_measured() {
    for via in BOTH {
        let both = connect(via, &Limits::default()).await;
        for peer in [&both.server, &both.device] {
            within(async {
                while peer.latency().is_none() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            })
            .await;
        }
    }
}

/// relay-56: a peer that does not answer three times is dead, whatever else it says; one that answers is not.
#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_answer_is_dead() {
    let (mut raw, peer, _, mut tasks) = raw_open(&Limits::default(), None).await;
    for beat in 1..=10 {
        let ping = raw.hears_any().await.unwrap();
        assert_eq!(ping["id"], format!("ping_{beat}"));
        raw.say(json!({ "type": "pong", "id": ping["id"], "ts": ping["ts"] })).await;
    }
    let call = ask(&peer, "wait", json!({})).await;
    let asked = tokio::time::Instant::now();
    let mut pings = 0;
    let code = loop {
        match raw.hears_any().await {
            Ok(frame) if frame["type"] == "ping" => {
                pings += 1;
                raw.say(json!({ "type": "pong", "id": "another", "ts": frame["ts"] })).await;
            }
            Ok(_) => {}
            Err(Lost::Closed { code, .. }) => break code,
            Err(lost) => panic!("{lost}"),
        }
    };
    assert_eq!((code, pings, asked.elapsed().as_secs()), (1008, 3, 60));
    drop(raw);
    assert_eq!(within(tasks.join_next()).await.unwrap().unwrap(), Lost::Silent);
    assert!(within(call.outcome()).await.is_err());
}

/// relay-56: a heartbeat is answered at once while all that can wait to be sent does.
#[tokio::test(start_paused = true)]
async fn a_heartbeat_overtakes_streams() {
    let (mut raw, peer, _, _tasks) = raw_open(&Limits::default(), None).await;
    for id in 0..32 {
        raw.say(raw_request(&id.to_string(), "flood", json!(1 << 30))).await;
    }
    for id in 32..48 {
        raw.say(raw_request(&id.to_string(), "large", json!(100_000))).await;
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(peer.held().unsent_bytes > 1_000_000);
    raw.say(json!({ "type": "ping", "id": "p", "ts": "2026-01-01T00:00:00Z" })).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut before = 0;
    while raw.hears_any().await.unwrap()["type"] != "pong" {
        before += 1;
    }
    assert!(before <= 5, "{before}");
}

/// relay-56: heartbeats are answered while streams saturate a WebSocket in both directions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_saturated_connection_lives() {
    use futures_util::StreamExt;
    let limits = Limits { heartbeat: Duration::from_millis(300), ..Limits::default() };
    for via in BOTH {
        let mut both = connect(via, &limits).await;
        let mut floods = Vec::new();
        for peer in [&both.server, &both.device] {
            for _ in 0..4 {
                floods.push(ask(peer, "flood", json!(1 << 30)).await);
            }
        }
        let reading = futures_util::stream::select_all(floods).for_each(|_| async {});
        tokio::select! {
            () = reading => panic!("they have ended"),
            ended = both.driving.tasks.join_next() => panic!("{ended:?}"),
            // Dead would be whoever does not answer for 1.2 s.
            () = tokio::time::sleep(Duration::from_secs(3)) => {}
        }
        assert!(both.server.latency().is_some() && both.device.latency().is_some());
    }
}
