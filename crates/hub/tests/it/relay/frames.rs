//! Frames at the doors of the hub.

use hub::Config;
use protocol::relay::{RawJson, RelayErrorCode};
use relay::Ask;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::{
    device::Offering,
    raw::{CONNECT, Raw, door, hello, request},
    world::{World, files, readme, soon},
};

/// relay-3: whoever says the same is told the same, at the path of devices and at that of an environment.
#[tokio::test]
async fn frames_are_the_same_on_every_path() {
    let world = World::new().await;
    let token = world.let_in("laptop").await;
    let environment = world.environment(json!({})).await;
    let mut heard = Vec::new();
    for (path, secret) in [(CONNECT.to_owned(), &token), (door(&environment), &environment.secret)] {
        let hello = hello("laptop", json!({ "flow": { "window_bytes": 1000 } }));
        let (mut raw, accepted) = Raw::accepted(&world, &path, secret, hello).await;
        let mut answers: Vec<_> = accepted.as_object().unwrap().keys().cloned().map(Value::from).collect();
        for frame in [
            request("a", "no.such.method", json!({})),
            json!({ "type": "request", "id": "b" }),
            json!({ "type": "ping", "id": "p", "ts": "2026-01-01T00:00:00Z" }),
        ] {
            raw.say(frame).await;
            answers.push(raw.hears().await);
        }
        raw.say(json!({ "type": "nothing" })).await;
        answers.push(json!(raw.closed().await));
        heard.push(json!(answers));
    }
    assert_eq!(heard[0], heard[1]);
    let error = |at: usize| &heard[0][at]["error"]["code"];
    assert_eq!((error(5), error(6)), (&json!("unknown_method"), &json!("invalid_request")), "{}", heard[0]);
    assert_eq!((&heard[0][7]["type"], &heard[0][8]), (&json!("pong"), &json!(1008)), "{}", heard[0]);
}

/// relay-8: how large a frame may be is for whoever runs the hub to say.
#[tokio::test]
async fn larger_frames_can_be_allowed() {
    for (set, is_heard) in
        [((|_| {}) as fn(&mut Config), false), (|config| config.frame_bytes_max = 2 << 20, true)]
    {
        let world = World::with(set).await;
        let token = world.let_in("phone").await;
        let (mut phone, _) = Raw::accepted(&world, CONNECT, &token, hello("phone", json!({}))).await;
        let mut ping = json!({ "type": "ping", "id": "p", "ts": "2026-01-01T00:00:00Z" });
        ping["padding"] = " ".repeat((1 << 20) + 1).into();
        phone.say(ping).await;
        match is_heard {
            true => assert_eq!(phone.hears().await["type"], "pong"),
            false => assert_eq!(phone.closed().await, Some(1009)),
        }
    }
}

/// relay-8: a frame that is too large ends its connection, with what goes on there, and no other.
#[tokio::test]
async fn what_is_too_large_ends_its_own_connection_only() {
    let world = World::new().await;
    let laptop = world.lend(Offering::all(), json!([files("ro")])).await;
    let token = world.let_in("phone").await;
    world.grant("phone", json!([files("ro")])).await;
    let root = json!({ "root_id": "main", "virtual_path": "/workspace/main", "mode": "ro" });
    let offered = hello("phone", json!({ "fileops": { "enabled": true, "roots": [root] } }));
    let (mut phone, _) = Raw::accepted(&world, CONNECT, &token, offered).await;
    super::world::until(|| async { !world.connection("phone").await.is_null() }).await;
    let hang = || Ask::new("file.read", RawJson::from_value(&json!({ "root_id": "main", "path": "hang" })));
    let on_laptop = world.runtime(&world.environment(json!({})).await).await;
    let on_phone = world.runtime(&world.environment(json!({ "clientId": "phone" })).await).await;
    let goes_on = on_laptop.peer.request(hang()).await;
    laptop.works_on(1).await;
    let ends = on_phone.peer.request(hang()).await;
    assert_eq!(phone.hears().await["method"], "file.read");
    phone.send(Message::text(" ".repeat((1 << 20) + 1))).await;
    assert_eq!(phone.closed().await, Some(1009));
    assert_eq!(soon(ends.outcome()).await.unwrap_err().code, RelayErrorCode::RelayDisconnected);
    assert_eq!(on_laptop.ask("file.read", readme()).await.unwrap()["content"], "content of README.md");
    laptop.works_on(1).await;
    drop(goes_on);
}
