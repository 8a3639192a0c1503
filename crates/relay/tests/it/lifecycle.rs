//! What becomes of a request.

use std::{sync::atomic::Ordering::SeqCst, time::Duration};

use futures_util::StreamExt;
use protocol::relay::{RawJson, RelayErrorCode};
use relay::{Ask, Limits, Lost, Part};
use serde_json::json;

use crate::support::{BOTH, ask, connect, holds_no_call, holds_nothing, outcome, within};

/// relay-14, relay-30, relay-35, relay-161: success and error, in both directions; after each of them the connection goes on.
#[tokio::test]
async fn a_request_has_one_outcome() {
    for via in BOTH {
        let both = connect(via, &Limits::default()).await;
        for peer in [&both.server, &both.device] {
            assert_eq!(
                within(outcome(peer, "echo", json!({ "a": [1] }))).await.unwrap(),
                json!({ "a": [1] })
            );
            assert_eq!(
                within(outcome(peer, "fail", json!({}))).await.unwrap_err().code,
                RelayErrorCode::NotFound
            );
            assert_eq!(
                within(outcome(peer, "nothing", json!({}))).await.unwrap_err().code,
                RelayErrorCode::UnknownMethod
            );
            let panicked = within(outcome(peer, "panic", json!({}))).await.unwrap_err();
            // The program that we build ends with it.
            assert_eq!(
                (panicked.code, panicked.message.as_str()),
                (RelayErrorCode::ProviderError, "the provider failed")
            );
            let mut call = ask(peer, "echo", json!(1)).await;
            assert_eq!(call.next().await, Some(Part::Outcome(Ok(RawJson::from_value(&1)))));
            assert_eq!(call.next().await, None);
            holds_nothing(peer).await;
        }
    }
}

/// relay-36, relay-161: who asks hears `timeout` and the work is cancelled, also if nobody polls the call.
#[tokio::test]
async fn a_request_that_takes_too_long_is_cancelled() {
    for via in BOTH {
        let both = connect(via, &Limits::default()).await;
        let ask = Ask::new("wait", RawJson::empty()).within(Duration::from_millis(50));
        let call = both.server.request(ask).await;
        within(both.at_device.works_on(1)).await;
        within(both.at_device.works_on(0)).await;
        assert_eq!(within(call.outcome()).await.unwrap_err().code, RelayErrorCode::Timeout);
        holds_nothing(&both.server).await;
        holds_nothing(&both.device).await;
        assert_eq!(within(outcome(&both.server, "echo", json!(1))).await.unwrap(), json!(1));
    }
}

/// relay-54, relay-161: who drops a call cancels it.
#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled() {
    for via in BOTH {
        let both = connect(via, &Limits::default()).await;
        let calls =
            [ask(&both.server, "wait", json!({})).await, ask(&both.server, "flood", json!(1 << 30)).await];
        within(both.at_device.works_on(2)).await;
        drop(calls);
        within(both.at_device.works_on(0)).await;
        holds_nothing(&both.server).await;
        holds_nothing(&both.device).await;
    }
}

/// relay-51, relay-52: who cancels a call and waits hears what the other side makes of it; what it said before wins.
#[tokio::test]
async fn what_comes_of_a_call_that_is_cancelled_is_heard() {
    for via in BOTH {
        let both = connect(via, &Limits::default()).await;
        let mut call = ask(&both.server, "wait", json!({})).await;
        within(both.at_device.works_on(1)).await;
        call.cancel();
        call.cancel();
        assert_eq!(within(call.outcome()).await.unwrap_err().code, RelayErrorCode::Cancelled);
        within(both.at_device.works_on(0)).await;
        let mut call = ask(&both.server, "count", json!(1)).await;
        assert!(matches!(within(call.next()).await, Some(Part::Stream(_))));
        holds_no_call(&both.server).await;
        call.cancel();
        assert_eq!(within(call.outcome()).await.unwrap(), RawJson::from_value(&"counted"));
        holds_nothing(&both.server).await;
        holds_nothing(&both.device).await;
    }
}

/// relay-54: a request that was cancelled before it was sent never is, and who waits is told.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_at_once_is_not_made() {
    let both = connect(crate::support::Via::Pair, &Limits::default()).await;
    // Which of both is heard first, the request or that it is cancelled, is chance.
    for _ in 0..64 {
        let mut call = ask(&both.server, "wait", json!({})).await;
        call.cancel();
        assert_eq!(within(call.outcome()).await.unwrap_err().code, RelayErrorCode::Cancelled);
    }
    assert_eq!(both.at_device.started.load(SeqCst), 0);
    holds_nothing(&both.server).await;
}

/// relay-54: a request that was dropped before it was sent never is.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_at_once_is_not_made() {
    let both = connect(crate::support::Via::Pair, &Limits::default()).await;
    // Which of both is heard first, the request or that it is dropped, is chance.
    for _ in 0..64 {
        drop(ask(&both.server, "wait", json!({})).await);
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(both.at_device.started.load(SeqCst), 0);
    holds_nothing(&both.server).await;
}

/// relay-53: a request that does not end when it is cancelled is dropped, and the other side is told so.
#[tokio::test]
async fn a_request_that_ignores_its_cancellation_is_dropped() {
    let limits = Limits { cancel_wait_max: Duration::from_millis(50), ..Limits::default() };
    let (mut raw, _peer, provider, _tasks) = crate::support::raw_open(&limits, None).await;
    raw.say(crate::support::raw_request("a", "ignore", json!({}))).await;
    within(provider.works_on(1)).await;
    raw.say(json!({ "type": "cancel", "id": "a", "reason": "user_cancelled" })).await;
    let response = raw.hears().await.unwrap();
    assert_eq!(response["error"]["code"], "cancelled");
    assert_eq!(response["error"]["recoverable"], true);
    assert_eq!(response["error"]["details"]["lost"], true);
    within(provider.works_on(0)).await;
}

/// relay-51, relay-34: what was given up counts until it is answered, so a peer that does not answer it is left.
#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_answer_what_was_cancelled_is_left() {
    for within_ms in [50, 3_600_000] {
        let (mut raw, peer, _, mut tasks) = crate::support::raw_open(&Limits::default(), None).await;
        for id in ["req_0", "req_1"] {
            let ask = Ask::new("wait", RawJson::empty()).within(Duration::from_millis(within_ms));
            let call = peer.request(ask).await;
            assert_eq!(raw.hears().await.unwrap()["id"], id);
            if within_ms > 1000 {
                drop(call);
            }
            assert_eq!(raw.hears().await.unwrap()["type"], "cancel");
            if id == "req_0" {
                tokio::time::sleep(Duration::from_secs(20)).await;
                raw.say(json!({ "type": "response", "id": id, "result": {} })).await;
            }
        }
        // It says that it is there, and nothing else.
        let since = tokio::time::Instant::now();
        within(async {
            while let Ok(mut frame) = raw.hears_any().await {
                assert_eq!(frame["type"], "ping");
                frame["type"] = json!("pong");
                raw.say(frame).await;
            }
        })
        .await;
        assert!(since.elapsed() >= Duration::from_secs(29), "{:?}", since.elapsed());
        assert_eq!(within(tasks.join_next()).await.unwrap().unwrap(), Lost::Silent);
        assert_eq!(peer.held().calls, 0);
    }
}

/// relay-53: who cancels a call is told that it has ended when it has, or that nobody can tell, whatever is said then.
#[tokio::test]
async fn who_cancels_a_call_is_told_whether_it_has_ended() {
    let (mut raw, peer, _, _tasks) = crate::support::raw_open(&Limits::default(), None).await;
    let error = |code: &str, lost: bool| json!({ "code": code, "message": "", "details": { "lost": lost } });
    for (number, (code, lost)) in [("cancelled", false), ("cancelled", true)].into_iter().enumerate() {
        let mut call = ask(&peer, "wait", json!({})).await;
        let id = format!("req_{number}");
        assert_eq!(raw.hears().await.unwrap()["id"], id.as_str());
        call.cancel();
        assert_eq!(raw.hears().await.unwrap(), json!({ "type": "cancel", "id": id, "reason": "cancelled" }));
        let log = json!({ "type": "stream", "id": id, "event": "log", "data": "it ends" });
        raw.say(log).await;
        assert!(matches!(within(call.next()).await, Some(Part::Stream(_))), "it goes on");
        raw.say(json!({ "type": "response", "id": id, "error": error(code, lost) })).await;
        let Some(Part::Outcome(Err(outcome))) = within(call.next()).await else { panic!("an outcome") };
        assert_eq!((outcome.code, outcome.is_lost()), (RelayErrorCode::Cancelled, lost));
    }
}

/// relay-51, relay-53: what was cancelled is answered with `cancelled`, and so that it is seen if nobody can tell that it ended.
#[tokio::test]
async fn what_was_cancelled_is_answered_so_that_a_loss_is_seen() {
    for (how, lost) in [("fail", false), ("unsure", true), ("unplugged", true)] {
        let (mut raw, _peer, provider, _tasks) = crate::support::raw_open(&Limits::default(), None).await;
        raw.say(crate::support::raw_request("a", "end", json!(how))).await;
        within(provider.works_on(1)).await;
        raw.say(json!({ "type": "cancel", "id": "a" })).await;
        let error = &raw.hears().await.unwrap()["error"];
        assert_eq!((&error["code"], &error["details"]["lost"] == true), (&json!("cancelled"), lost), "{how}");
    }
}

/// relay-34: more than may go on at a time is refused on the side that asks, too.
#[tokio::test]
async fn too_many_calls_are_refused() {
    for via in BOTH {
        let both = connect(via, &Limits { calls_max: 2, ..Limits::default() }).await;
        let _calls = [ask(&both.server, "wait", json!({})).await, ask(&both.server, "wait", json!({})).await];
        let error = within(outcome(&both.server, "echo", json!(1))).await.unwrap_err();
        assert_eq!((error.code, error.recoverable), (RelayErrorCode::ProviderError, true));
        assert_eq!(error.details["reason"], "busy");
    }
}

/// relay-8: what does not fit in a message is refused where it is made, and the connection goes on.
#[tokio::test]
async fn what_is_too_large_is_refused_where_it_is_made() {
    for via in BOTH {
        let both = connect(via, &Limits { frame_bytes_max: 10_000, ..Limits::default() }).await;
        let asked = within(outcome(&both.server, "echo", json!("x".repeat(10_000)))).await.unwrap_err();
        assert_eq!((asked.code, &asked.details["limit"]), (RelayErrorCode::InvalidRequest, &json!(10_000)));
        let answered = within(outcome(&both.server, "large", json!(10_000))).await.unwrap_err();
        assert_eq!(
            (answered.code, &answered.details["limit"]),
            (RelayErrorCode::ProviderError, &json!(10_000))
        );
        let said = within(outcome(&both.server, "blocks", json!([10_000]))).await.unwrap_err();
        assert_eq!(said.code, RelayErrorCode::ProviderError);
        assert_eq!(within(outcome(&both.server, "large", json!(9_000))).await.unwrap(), "x".repeat(9_000));
    }
}

/// relay-57: an event arrives, and nobody answers.
#[tokio::test]
async fn an_event_arrives() {
    for via in BOTH {
        let mut both = connect(via, &Limits::default()).await;
        both.server.event("provider.paused", RawJson::from_value(&json!({ "by": "user" }))).await.unwrap();
        let event = within(both.events.recv()).await.unwrap();
        assert_eq!(event.event, "provider.paused");
        assert_eq!(event.payload, RawJson::from_value(&json!({ "by": "user" })));
    }
}

/// relay-54: a cancellation never overtakes its request, which would then go on.
#[tokio::test(start_paused = true)]
async fn a_request_that_still_waits_to_be_sent_is_taken_back() {
    let (mut raw, peer, _, _tasks) = crate::support::raw_open(&Limits::default(), None).await;
    let mut calls = Vec::new();
    for _ in 0..20 {
        calls.push(ask(&peer, "wait", json!({})).await);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    calls.clear();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(peer.held().calls < 10, "{:?}", peer.held());
    let (mut asked, mut cancelled) = (Vec::new(), Vec::new());
    while let Ok(Ok(frame)) = tokio::time::timeout(Duration::from_secs(1), raw.hears()).await {
        let kind = if frame["type"] == "request" { &mut asked } else { &mut cancelled };
        kind.push(frame["id"].clone());
    }
    assert!(!asked.is_empty());
    assert_eq!(asked, cancelled);
}

/// relay-35, relay-54: a call that is made of other parts has one outcome too, and is dropped with them.
#[tokio::test]
async fn a_call_of_other_parts_has_one_outcome() {
    let refused = relay::Call::refused(protocol::relay::RelayError::new(RelayErrorCode::PolicyBlocked, "no"));
    assert_eq!(refused.outcome().await.unwrap_err().code, RelayErrorCode::PolicyBlocked);
    let without = relay::Call::of(futures_util::stream::empty());
    assert_eq!(without.outcome().await.unwrap_err().code, RelayErrorCode::RelayDisconnected);
    let one = || Part::Outcome(Ok(RawJson::from_value(&1)));
    let parts: Vec<_> = relay::Call::of(futures_util::stream::iter([one(), one()])).collect().await;
    assert_eq!(parts, [one()]);
    let both = connect(crate::support::Via::Pair, &Limits::default()).await;
    let call = relay::Call::of(ask(&both.server, "wait", json!({})).await);
    within(both.at_device.works_on(1)).await;
    drop(call);
    within(both.at_device.works_on(0)).await;
}
