//! The bytes of a file in a binary message, where both sides know how.

use bytes::Bytes;
use protocol::relay::{BINARY_READ, Packet, RawJson, RelayErrorCode, Response};
use relay::{Limits, Lines, Lost};
use serde_json::json;

use crate::support::{BOTH, Raw, ask, connect, connect_over, outcome, raw, raw_hello, raw_request, within};

/// A server, and a device that takes bytes.
async fn open(limits: &Limits) -> (Raw, relay::Peer, tokio::task::JoinSet<Lost>) {
    let (mut raw, peer, _, tasks) = raw(limits);
    raw.say(raw_hello(json!({ "extensions": [BINARY_READ, "of.a.newer.peer"] }))).await;
    assert_eq!(raw.hears().await.unwrap()["payload"]["extensions"], json!([BINARY_READ]));
    within(peer.accepted()).await.unwrap();
    (raw, peer, tasks)
}

fn answer(id: &str, bytes: &'static [u8]) -> Packet {
    let result = RawJson::empty().with_bytes(Bytes::from_static(bytes));
    Response { id: id.into(), outcome: Ok(result) }.into()
}

/// relay-4, relay-28: where both sides know how, the bytes of a file come as they are, in either direction, over whatever carries
/// them.
#[tokio::test]
async fn bytes_come_as_they_are() {
    for via in BOTH {
        let both = connect(via, &Limits::default()).await;
        for peer in [&both.server, &both.device] {
            assert!(peer.takes_bytes());
            let result = ask(peer, "file.read", json!(300_000)).await.outcome().await.unwrap();
            assert_eq!((result.as_str(), result.bytes()), ("{}", &Bytes::from(vec![0xff; 300_000])));
            // What is empty is text.
            assert_eq!(outcome(peer, "file.read", json!(0)).await.unwrap(), json!({}));
        }
    }
}

/// relay-4, relay-28: nobody sends bytes to who has not said that it takes them, or for a method that has none.
#[tokio::test]
async fn bytes_are_not_sent_where_they_are_not_known() {
    let (mut raw, peer, _, _tasks) = raw(&Limits::default());
    raw.say(raw_hello(json!({ "extensions": ["of.a.newer.peer"] }))).await;
    let accepted = &raw.hears().await.unwrap()["payload"];
    assert!(!accepted["connection_id"].is_null() && accepted["extensions"].is_null(), "{accepted}");
    assert!(!peer.takes_bytes());
    raw.say(raw_request("a", "file.read", json!(3))).await;
    let error = &raw.hears().await.unwrap()["error"];
    assert_eq!(
        (&error["code"], &error["details"]["reason"]),
        (&json!("invalid_request"), &json!("not_negotiated"))
    );
    let both = connect(BOTH[0], &Limits::default()).await;
    assert_eq!(
        outcome(&both.server, "file.list", json!(3)).await.unwrap_err().code,
        RelayErrorCode::InvalidRequest
    );
}

/// relay-4: lines of text carry none, and nobody says that they do.
#[tokio::test]
async fn lines_carry_no_bytes() {
    let limits = Limits::default();
    let (here, there) = tokio::io::duplex(1 << 16);
    let both = connect_over(Lines::new(here, &limits), Lines::new(there, &limits), &limits).await;
    assert!(!both.server.takes_bytes() && !both.device.takes_bytes());
    assert_eq!(
        outcome(&both.server, "file.read", json!(3)).await.unwrap_err().code,
        RelayErrorCode::InvalidRequest
    );
    assert_eq!(outcome(&both.server, "echo", json!(3)).await.unwrap(), json!(3));
}

/// relay-5, relay-9: a binary message that nobody asked for, or that is none, closes with 1008.
#[tokio::test]
async fn a_binary_message_that_is_not_wanted_closes() {
    let file = (|| answer("req_0", b"x")) as fn() -> Packet;
    for (method, packet) in [
        ("echo", file),
        ("file.list", file),
        ("file.read", || answer("req_1", b"x")),
        ("file.read", || Packet::Binary(Bytes::from_static(b"\0\0\0\x02{}x"))),
        ("file.read", || Packet::Binary(Bytes::from_static(&[1]))),
    ] {
        let (mut raw, peer, _tasks) = open(&Limits::default()).await;
        let call = ask(&peer, method, json!({})).await;
        raw.hears().await.unwrap();
        raw.say_packet(packet()).await;
        assert_eq!(raw.closed().await, 1008, "{method}");
        assert_eq!(within(call.outcome()).await.unwrap_err().code, RelayErrorCode::RelayDisconnected);
    }
    let (mut raw, peer, _tasks) = open(&Limits::default()).await;
    let call = ask(&peer, "file.read", json!({})).await;
    raw.hears().await.unwrap();
    raw.say_packet(file()).await;
    assert_eq!(within(call.outcome()).await.unwrap().bytes().as_ref(), b"x", "control");
}

/// relay-8: a binary message is no longer than any other.
#[tokio::test]
async fn a_binary_message_has_a_limit() {
    let limits = Limits { frame_bytes_max: 1000, ..Limits::default() };
    for via in BOTH {
        let both = connect(via, &limits).await;
        let error = outcome(&both.server, "file.read", json!(1000)).await.unwrap_err();
        assert_eq!((error.code, &error.details["limit"]), (RelayErrorCode::ProviderError, &json!(1000)));
    }
    let (mut raw, peer, _tasks) = open(&limits).await;
    let _call = ask(&peer, "file.read", json!({})).await;
    raw.hears().await.unwrap();
    raw.say_packet(answer("req_0", &[7; 1000])).await;
    assert_eq!(raw.closed().await, 1009);
}
