//! One WebSocket for everything.

use std::collections::BTreeSet;

use futures_util::{SinkExt, StreamExt};
use protocol::relay::RawJson;
use relay::{Limits, Part, Peer, Side, Socket};
use serde_json::{Value, json};
use tokio::{net::TcpStream, task::JoinSet};
use tokio_tungstenite::{WebSocketStream, tungstenite::Message};

use crate::support::{Provider, ask, raw_hello, raw_request, sockets, within};

async fn say(socket: &mut WebSocketStream<TcpStream>, frame: Value) {
    within(socket.send(Message::text(frame.to_string()))).await.unwrap();
}

async fn hears(socket: &mut WebSocketStream<TcpStream>) -> Value {
    let message = within(socket.next()).await.unwrap().unwrap();
    serde_json::from_str(message.to_text().unwrap()).unwrap()
}

/// relay-1: requests of both sides, their responses and streams, a cancellation, heartbeats and events go over one WebSocket, each
/// while the others go on.
#[tokio::test]
async fn one_socket_carries_everything() {
    let (here, mut there) = sockets(&Limits::default()).await;
    let (provider, mut events) = Provider::new();
    let mut tasks = JoinSet::new();
    let (peer, driver) = Peer::start(Socket::new(here), provider.clone(), Side::Server, Limits::default());
    tasks.spawn(driver);
    say(&mut there, raw_hello(json!({}))).await;
    within(peer.accepted()).await.unwrap();
    let mut asked = ask(&peer, "wait", json!({})).await;
    peer.event("capability.updated", RawJson::empty()).await.unwrap();
    for frame in [
        raw_request("long", "wait", json!({})),
        raw_request("stream", "count", json!(3)),
        json!({ "type": "event", "event": "provider.paused", "payload": {} }),
        json!({ "type": "ping", "id": "p", "ts": "2026-01-01T00:00:00Z" }),
        json!({ "type": "stream", "id": "req_0", "event": "progress", "seq": 0, "data": 50 }),
        raw_request("short", "echo", json!("back")),
    ] {
        say(&mut there, frame).await;
    }
    let (mut heard, mut responses) = (Vec::<Value>::new(), 0);
    let beats = |heard: &[Value]| {
        ["ping", "pong"].iter().all(|beat| heard.iter().any(|frame| frame["type"] == *beat))
    };
    while responses < 2 || !beats(&heard) {
        heard.push(hears(&mut there).await);
        responses += usize::from(heard.last().unwrap()["type"] == "response");
    }
    assert_eq!(within(events.recv()).await.unwrap().event, "provider.paused");
    within(provider.works_on(1)).await;
    say(&mut there, json!({ "type": "cancel", "id": "long", "reason": "user_cancelled" })).await;
    say(&mut there, json!({ "type": "response", "id": "req_0", "result": "mine" })).await;
    while responses < 3 {
        heard.push(hears(&mut there).await);
        responses += usize::from(heard.last().unwrap()["type"] == "response");
    }
    let Some(Part::Stream(part)) = within(asked.next()).await else { panic!("a stream") };
    assert_eq!((part.event.as_str(), part.data), ("progress", RawJson::from_value(&50)));
    assert_eq!(within(asked.next()).await, Some(Part::Outcome(Ok(RawJson::from_value(&"mine")))));

    let kinds: BTreeSet<_> = heard.iter().map(|frame| frame["type"].as_str().unwrap()).collect();
    assert!(kinds.iter().eq(["event", "ping", "pong", "request", "response", "stream"].iter()), "{kinds:?}");
    let of = |id: &str| heard.iter().filter(|frame| frame["id"] == id).collect::<Vec<_>>();
    assert_eq!(of("short")[0]["result"], "back");
    assert_eq!(of("long")[0]["error"]["code"], "cancelled");
    assert_eq!(*of("p")[0], json!({ "type": "pong", "id": "p", "ts": "2026-01-01T00:00:00Z" }));
    let streamed: Vec<_> = of("stream").into_iter().map(|frame| (&frame["event"], &frame["seq"])).collect();
    let (event, seq) = (["stdout", "stderr", "progress"].map(Value::from), [0, 1, 2].map(Value::from));
    let mut expected: Vec<_> = event.iter().zip(&seq).collect();
    expected.push((&Value::Null, &Value::Null));
    assert_eq!(streamed, expected, "the stream, and then its end");
}
