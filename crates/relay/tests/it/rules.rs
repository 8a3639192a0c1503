//! What a peer may say.

use futures_util::{SinkExt, StreamExt};
use protocol::relay::RelayErrorCode;
use relay::{Limits, Lost, Peer, Side, Socket};
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use crate::support::{Provider, ask, outcome, raw_hello, raw_open, raw_request, sockets, within};

/// relay-31: a second request with the id of one that goes on is refused, and the first goes on.
#[tokio::test]
async fn an_id_that_is_in_use_is_refused() {
    let (mut raw, _peer, provider, _tasks) = raw_open(&Limits::default(), None).await;
    raw.say(raw_request("a", "wait", json!({}))).await;
    raw.say(raw_request("a", "echo", json!(1))).await;
    assert_eq!(raw.hears().await.unwrap()["error"]["code"], "invalid_request");
    within(provider.works_on(1)).await;
    raw.say(json!({ "type": "cancel", "id": "a" })).await;
    assert_eq!(raw.hears().await.unwrap()["error"]["code"], "cancelled");
    // Then it is free.
    raw.say(raw_request("a", "echo", json!(1))).await;
    assert_eq!(raw.hears().await.unwrap()["result"], 1);
}

/// relay-32: ids of both directions have nothing to do with each other.
#[tokio::test]
async fn ids_of_both_directions_are_independent() {
    let (mut raw, peer, provider, _tasks) = raw_open(&Limits::default(), None).await;
    let call = ask(&peer, "wait", json!({})).await;
    assert_eq!(raw.hears().await.unwrap()["id"], "req_0");
    raw.say(raw_request("req_0", "wait", json!({}))).await;
    within(provider.works_on(1)).await;
    raw.say(json!({ "type": "response", "id": "req_0", "result": "mine" })).await;
    assert_eq!(within(call.outcome()).await.unwrap().as_str(), "\"mine\"");
    within(provider.works_on(1)).await;
    raw.say(json!({ "type": "cancel", "id": "req_0" })).await;
    assert_eq!(raw.hears().await.unwrap()["error"]["code"], "cancelled");
}

/// relay-34: more requests than are answered at a time are refused, and those before go on.
#[tokio::test]
async fn too_many_requests_are_refused() {
    let (mut raw, _peer, provider, _tasks) = raw_open(&Limits::default(), None).await;
    for id in 0..64 {
        raw.say(raw_request(&id.to_string(), "wait", json!({}))).await;
    }
    within(provider.works_on(64)).await;
    raw.say(raw_request("64", "echo", json!(1))).await;
    let error = &raw.hears().await.unwrap()["error"];
    assert_eq!((&error["code"], &error["recoverable"]), (&json!("provider_error"), &json!(true)));
    assert_eq!(error["details"]["reason"], "busy");
    raw.say(json!({ "type": "cancel", "id": "7" })).await;
    assert_eq!(raw.hears().await.unwrap()["id"], "7");
    raw.say(raw_request("64", "echo", json!(1))).await;
    assert_eq!(raw.hears().await.unwrap()["result"], 1);
}

/// relay-34: more requests of one family than are answered at a time are refused, and there is room for others.
#[tokio::test]
async fn a_family_leaves_room_for_others() {
    let limits = Limits { family_requests_max: 2, ..Limits::default() };
    let (mut raw, _peer, provider, _tasks) = raw_open(&limits, None).await;
    for id in ["a", "b"] {
        raw.say(raw_request(id, "shell.start", json!({}))).await;
    }
    within(provider.works_on(2)).await;
    raw.say(raw_request("c", "shell.start", json!({}))).await;
    let error = &raw.hears().await.unwrap()["error"];
    assert_eq!((&error["code"], &error["recoverable"]), (&json!("provider_error"), &json!(true)));
    assert_eq!((&error["details"]["reason"], &error["details"]["limit"]), (&json!("busy"), &json!(2)));
    assert_eq!(error["details"]["capability"], "shell");
    raw.say(raw_request("d", "file.stat", json!(1))).await;
    assert_eq!(raw.hears().await.unwrap()["result"], 1);
    // What goes on can be spoken to all the same.
    raw.say(raw_request("e", "shell.status", json!(2))).await;
    assert_eq!(raw.hears().await.unwrap()["result"], 2);
    raw.say(json!({ "type": "cancel", "id": "a" })).await;
    assert_eq!(raw.hears().await.unwrap()["id"], "a");
    raw.say(raw_request("c", "shell.start", json!({}))).await;
    within(provider.works_on(2)).await;
}

/// relay-52: to cancel what is unknown or has ended does nothing; relay-51: what goes on is answered `cancelled`, once.
#[tokio::test]
async fn cancelling_what_is_not_there_does_nothing() {
    let (mut raw, _peer, provider, _tasks) = raw_open(&Limits::default(), None).await;
    raw.say(json!({ "type": "cancel", "id": "unknown" })).await;
    raw.say(raw_request("a", "echo", json!(1))).await;
    assert_eq!(raw.hears().await.unwrap()["result"], 1);
    raw.say(json!({ "type": "cancel", "id": "a" })).await;
    raw.say(raw_request("b", "wait", json!({}))).await;
    within(provider.works_on(1)).await;
    for _ in 0..2 {
        raw.say(json!({ "type": "cancel", "id": "b", "reason": "user_cancelled" })).await;
    }
    let response = raw.hears().await.unwrap();
    assert_eq!((&response["id"], &response["error"]["code"]), (&json!("b"), &json!("cancelled")));
    assert_eq!(response["error"]["recoverable"], true);
    raw.say(raw_request("c", "echo", json!(1))).await;
    assert_eq!(raw.hears().await.unwrap()["id"], "c");
}

/// relay-9: a malformed request is answered if it has an id; anything else malformed closes. Nothing crashes.
#[tokio::test]
async fn malformed_messages_are_answered_or_close() {
    let (mut raw, _peer, _, _tasks) = raw_open(&Limits::default(), None).await;
    for text in [r#"{"type":"request","id":"a"}"#, r#"{"type":"request","id":"a","method":7}"#] {
        raw.say_text(text).await;
        let response = raw.hears().await.unwrap();
        assert_eq!((&response["id"], &response["error"]["code"]), (&json!("a"), &json!("invalid_request")));
    }
    for (text, code) in [
        ("", 1007),
        ("{", 1007),
        ("\u{0}", 1007),
        ("[]", 1008),
        ("{}", 1008),
        (r#"{"type":"other","id":"a"}"#, 1008),
        (r#"{"type":"request"}"#, 1008),
        (r#"{"type":"cancel"}"#, 1008),
        (r#"{"type":"response","id":"req_0"}"#, 1008),
        (r#"{"type":"event","event":"stream.credit","payload":{}}"#, 1008),
    ] {
        let (mut raw, peer, _, _tasks) = raw_open(&Limits::default(), Some(1000)).await;
        raw.say_text(text).await;
        assert_eq!(raw.closed().await, code, "{text}");
        let after = within(outcome(&peer, "echo", json!(1))).await.unwrap_err();
        assert_eq!(after.code, RelayErrorCode::RelayDisconnected);
    }
}

/// relay-8, relay-9: an id that is too long is none, as no answer with it might fit in a message.
#[tokio::test]
async fn an_id_that_is_too_long_closes() {
    let limits = Limits { frame_bytes_max: 1000, ..Limits::default() };
    let long = "x".repeat(950);
    for text in [
        format!(r#"{{"type":"request","id":"{long}","method":"e"}}"#),
        format!(r#"{{"type":"request","id":"{long}"}}"#),
        format!(r#"{{"type":"cancel","id":"{long}"}}"#),
        format!(r#"{{"type":"ping","id":"{long}","ts":"t"}}"#),
    ] {
        let (mut raw, _peer, _, _tasks) = raw_open(&limits, None).await;
        raw.say_text(&text).await;
        let lost = loop {
            match raw.hears().await {
                Ok(frame) => assert!(frame.to_string().len() <= 1000, "{frame}"),
                Err(lost) => break lost,
            }
        };
        assert!(matches!(lost, Lost::Closed { code: 1008, .. }), "{lost}");
    }
    let (mut raw, _peer, _, _tasks) = raw_open(&limits, None).await;
    let longest = "x".repeat(256);
    raw.say(raw_request(&longest, "large", json!(1000))).await;
    let response = raw.hears().await.unwrap();
    assert_eq!((&response["id"], &response["error"]["details"]["limit"]), (&json!(longest), &json!(1000)));
}

/// relay-8: a message that is too large closes with 1009, also in one process.
#[tokio::test]
async fn a_message_that_is_too_large_closes() {
    let limits = Limits { frame_bytes_max: 1000, ..Limits::default() };
    let (mut raw, _peer, _, _tasks) = raw_open(&limits, None).await;
    raw.say(raw_request("a", "echo", json!("x".repeat(1000)))).await;
    assert_eq!(raw.closed().await, 1009);
}

/// relay-5, relay-8, relay-9: what closes a WebSocket, with which code, and what it is called here.
#[tokio::test]
async fn a_socket_is_closed_with_a_code() {
    let limits = Limits { frame_bytes_max: 1000, ..Limits::default() };
    for (message, code) in [
        (Message::binary(vec![1]), 1008),
        (Message::text("x".repeat(1001)), 1009),
        (Message::text("{"), 1007),
        (Message::text("{}"), 1008),
    ] {
        let (here, mut there) = sockets(&limits).await;
        let mut tasks = tokio::task::JoinSet::new();
        let (peer, driver) = Peer::start(Socket::new(here), Provider::new().0, Side::Server, limits.clone());
        tasks.spawn(driver);
        there.send(Message::text(raw_hello(json!({})).to_string())).await.unwrap();
        within(peer.accepted()).await.unwrap();
        let call = ask(&peer, "wait", json!({})).await;
        there.send(message.clone()).await.unwrap();
        let closed = loop {
            match within(there.next()).await.unwrap().unwrap() {
                Message::Close(Some(frame)) => break u16::from(frame.code),
                Message::Close(None) => panic!(),
                _ => {}
            }
        };
        assert_eq!(closed, code, "{message}");
        assert_eq!(within(call.outcome()).await.unwrap_err().code, RelayErrorCode::RelayDisconnected);
        assert!(matches!(within(tasks.join_next()).await.unwrap().unwrap(), Lost::Fault { .. }));
    }
}

/// relay-155: closing tells the other side why, and both sides end.
#[tokio::test]
async fn closing_ends_both_sides() {
    for via in crate::support::BOTH {
        let mut both = crate::support::connect(via, &Limits::default()).await;
        let call = ask(&both.device, "wait", json!({})).await;
        within(both.at_server.works_on(1)).await;
        assert_eq!((both.server.ended(), both.device.ended()), (None, None));
        both.server.close("revoked");
        assert_eq!(both.server.ended().unwrap().code, RelayErrorCode::RelayDisconnected);
        assert_eq!(within(call.outcome()).await.unwrap_err().code, RelayErrorCode::RelayDisconnected);
        let lost = within(both.device.until_ended()).await;
        assert!(lost.code == RelayErrorCode::RelayDisconnected && lost.message.contains("revoked"), "{lost}");
        within(both.at_server.works_on(0)).await;
        while let Some(ended) = within(both.driving.tasks.join_next()).await {
            let reason = "revoked".to_owned();
            match ended.unwrap() {
                ("server", lost) => assert_eq!(lost, Lost::Stopped(reason)),
                (_, lost) => assert_eq!(lost, Lost::Closed { code: 1000, reason }),
            }
        }
    }
}
