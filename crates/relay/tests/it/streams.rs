//! What comes before the outcome.

use base64::{Engine, prelude::BASE64_STANDARD};
use futures_util::StreamExt;
use protocol::relay::{Encoding, RawJson};
use relay::{Limits, Part};
use serde_json::{Value, json};

use crate::support::{BOTH, ask, connect, raw_open, within};

/// relay-46, relay-48, relay-162: parts of a stream arrive in the order in which they were said, all before the outcome.
#[tokio::test]
async fn a_stream_keeps_its_order() {
    for via in BOTH {
        let both = connect(via, &Limits { window_bytes: 2000, ..Limits::default() }).await;
        for peer in [&both.server, &both.device] {
            let mut call = ask(peer, "count", json!(3000)).await;
            for number in 0..3000_usize {
                let Some(Part::Stream(frame)) = within(call.next()).await else { panic!("at {number}") };
                assert_eq!(frame.seq, Some(number as u64));
                assert_eq!(frame.event, ["stdout", "stderr", "progress"][number % 3]);
                assert_eq!(frame.data.read::<usize>().unwrap(), number);
            }
            assert_eq!(within(call.next()).await, Some(Part::Outcome(Ok(RawJson::from_value(&"counted")))));
            assert_eq!(call.next().await, None);
        }
    }
}

/// relay-48: bytes that are no text are in base64.
#[tokio::test]
async fn bytes_that_are_no_text_arrive() {
    let both = connect(crate::support::Via::Pair, &Limits::default()).await;
    let parts: Vec<_> = within(ask(&both.server, "bytes", json!({})).await.collect()).await;
    let [Part::Stream(text), Part::Stream(bytes), Part::Outcome(_)] = parts.as_slice() else { panic!() };
    assert_eq!((text.data.read::<String>().unwrap().as_str(), text.encoding), ("tomb", None));
    assert_eq!(bytes.encoding, Some(Encoding::Base64));
    assert_eq!(BASE64_STANDARD.decode(bytes.data.read::<String>().unwrap()).unwrap(), [0xc3]);
}

/// relay-45, relay-35: a frame for no request that goes on, or out of order, breaks the connection, and a call hears of it.
#[tokio::test]
async fn a_stream_that_breaks_the_rules_closes_the_connection() {
    let stream =
        |id: &str, seq: u64| json!({ "type": "stream", "id": id, "event": "log", "seq": seq, "data": 1 });
    let response = |id: &str| json!({ "type": "response", "id": id, "result": {} });
    let cases: [Vec<Value>; 6] = [
        vec![stream("req_7", 0)],
        vec![stream("req_00", 0)],
        vec![stream("req_0", 1)],
        vec![stream("req_0", 0), stream("req_0", 0)],
        vec![response("req_0"), stream("req_0", 0)],
        vec![response("req_0"), response("req_0")],
    ];
    for case in cases {
        let (mut raw, peer, _, _tasks) = raw_open(&Limits::default(), None).await;
        let call = ask(&peer, "wait", json!({})).await;
        assert_eq!(raw.hears().await.unwrap()["id"], "req_0");
        for frame in &case {
            raw.say(frame.clone()).await;
        }
        assert_eq!(raw.closed().await, 1008, "{case:?}");
        let _ = within(call.outcome()).await;
    }
}

/// relay-52, relay-54: what still comes for a call that was given up is no fault.
#[tokio::test]
async fn what_comes_for_a_dropped_call_is_ignored() {
    let (mut raw, peer, _, _tasks) = raw_open(&Limits::default(), None).await;
    let call = ask(&peer, "wait", json!({})).await;
    assert_eq!(raw.hears().await.unwrap()["id"], "req_0");
    drop(call);
    assert_eq!(raw.hears().await.unwrap()["type"], "cancel");
    raw.say(json!({ "type": "stream", "id": "req_0", "event": "log", "data": 1 })).await;
    raw.say(json!({ "type": "response", "id": "req_0", "result": {} })).await;
    raw.say(json!({ "type": "ping", "id": "p", "ts": "2026-01-01T00:00:00Z" })).await;
    assert_eq!(
        raw.hears().await.unwrap(),
        json!({ "type": "pong", "id": "p", "ts": "2026-01-01T00:00:00Z" })
    );
    assert_eq!(peer.held().calls, 0);
}
