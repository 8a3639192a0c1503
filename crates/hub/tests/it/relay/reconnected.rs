//! Devices that are lost and come back.

use protocol::relay::{RawJson, RelayErrorCode};
use relay::Ask;
use serde_json::json;

use super::{
    device::{Device, Offering},
    raw::{CONNECT, Raw, door, hello, request},
    world::{World, files, readme, soon, until},
};

fn hang() -> Ask {
    Ask::new("file.read", RawJson::from_value(&json!({ "root_id": "main", "path": "hang" })))
}

/// relay-116, relay-119, relay-120, relay-155, relay-167: what waits for a device that is lost is told so, its capabilities are not there, and
/// when it is back the same environment works with it.
#[tokio::test]
async fn an_environment_outlives_the_connection_of_its_device() {
    let world = World::new().await;
    let token = world.let_in("laptop").await;
    world.grant("laptop", json!([files("ro")])).await;
    let mut device = world.connect(&token, Offering::all()).await;
    let environment = world.environment(json!({})).await;
    let runtime = world.runtime(&environment).await;
    let waiting = [runtime.peer.request(hang()).await, runtime.peer.request(hang()).await];
    device.works_on(2).await;
    let first = world.connection("laptop").await["connectionId"].clone();
    device.unplug();
    for call in waiting {
        assert_eq!(soon(call.outcome()).await.unwrap_err().code, RelayErrorCode::RelayDisconnected);
    }
    until(|| async { world.connection("laptop").await.is_null() }).await;
    let (_, body) = world.ask(&environment, "file.read", readme()).await;
    assert_eq!(
        (&body["relay"]["code"], &body["relay"]["recoverable"]),
        (&json!("capability_unavailable"), &json!(true))
    );
    let again = world.connect(&token, Offering::all()).await;
    assert_ne!(world.connection("laptop").await["connectionId"], first);
    assert_eq!(runtime.ask("file.read", readme()).await.unwrap()["content"], "content of README.md");
    assert_eq!(again.asked().len(), 1);
}

/// relay-122: a second connection of the same copy takes the place of the first, whose requests are told so.
#[tokio::test]
async fn the_same_copy_takes_the_place_of_its_connection() {
    let world = World::new().await;
    let token = world.let_in("laptop").await;
    world.grant("laptop", json!([files("ro")])).await;
    let mut first = world.connect(&token, Offering::all()).await;
    let environment = world.environment(json!({})).await;
    let runtime = world.runtime(&environment).await;
    let waiting = runtime.peer.request(hang()).await;
    first.works_on(1).await;
    let second = world.connect(&token, Offering::all()).await;
    let why = first.ended().await;
    assert!(why.contains("replaced by a newer connection"), "{why}");
    assert_eq!(soon(waiting.outcome()).await.unwrap_err().code, RelayErrorCode::RelayDisconnected);
    runtime.ask("file.read", readme()).await.unwrap();
    assert_eq!(second.asked().len(), 1);
}

/// relay-122: another copy is refused before the upgrade while the first is there.
#[tokio::test]
async fn another_copy_is_refused() {
    let world = World::new().await;
    let (one, other) = (world.let_in("laptop").await, world.let_in("laptop").await);
    let mut device = world.connect(&one, Offering::all()).await;
    let refused = Device::connect(&world.client(&other), "laptop", Offering::all()).await;
    let Err(client::Error::Problem(problem)) = refused else { panic!("let in") };
    assert_eq!((problem.status, problem.kind), (409, Some(protocol::ProblemKind::DeviceConnected)));
    assert!(!world.connection("laptop").await.is_null());
    device.unplug();
    until(|| async { world.connection("laptop").await.is_null() }).await;
    world.connect(&other, Offering::all()).await;
}

/// An environment, its token, a device and its grants are there after the hub was started again.
#[tokio::test]
async fn everything_that_is_lent_outlives_the_hub() {
    let world = World::new().await;
    let token = world.let_in("laptop").await;
    world.grant("laptop", json!([files("ro")])).await;
    let environment = world.environment(json!({ "sessionId": "s1" })).await;
    let world = world.restarted().await;
    let _device = world.connect(&token, Offering::all()).await;
    assert_eq!(world.ask(&environment, "file.read", readme()).await.0, 200);
    let kept = std::fs::read_to_string(world.file("relay.json")).unwrap();
    assert!(!kept.contains(&token) && !kept.contains(&environment.secret), "only digests are kept");
    use std::os::unix::fs::PermissionsExt;
    for file in ["relay.json", "relay-audit.db"] {
        let mode = std::fs::metadata(world.file(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{file}");
    }
}

/// relay-124: nothing is taken up again in this version: what a connection has left is not known to the next, whatever its hello
/// says, and to cancel it does nothing.
#[tokio::test]
async fn nothing_is_taken_up_again_by_another_connection() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([files("ro")])).await;
    let environment = world.environment(json!({})).await;
    let path = door(&environment);
    let hang = json!({ "root_id": "main", "path": "hang" });
    let (mut first, before) =
        Raw::accepted(&world, &path, &environment.secret, hello("box", json!({}))).await;
    first.say(request("a", "file.read", hang.clone())).await;
    device.works_on(1).await;
    drop(first);
    device.works_on(0).await;
    let mut resuming = hello("box", json!({ "resume": true }));
    resuming["resume"] = json!({ "connection_id": before["connection_id"], "request_ids": ["a"] });
    let (mut second, after) = Raw::accepted(&world, &path, &environment.secret, resuming.clone()).await;
    assert!(before.as_object().unwrap().keys().eq(after.as_object().unwrap().keys()), "{after}");
    second.say(json!({ "type": "cancel", "id": "a" })).await;
    second.say(request("a", "file.read", readme())).await;
    let heard = second.hears().await;
    assert_eq!((&heard["id"], &heard["result"]["content"]), (&json!("a"), &json!("content of README.md")));

    // The same for a device: what it was asked before is over.
    let token = world.let_in("phone").await;
    world.grant("phone", json!([files("ro")])).await;
    let runtime = world.runtime(&world.environment(json!({ "clientId": "phone" })).await).await;
    let root = json!({ "root_id": "main", "virtual_path": "/workspace/main", "mode": "ro" });
    let offered = hello("phone", json!({ "fileops": { "enabled": true, "roots": [root] } }));
    let (mut first, _) = Raw::accepted(&world, CONNECT, &token, offered.clone()).await;
    until(|| async { !world.connection("phone").await.is_null() }).await;
    let asked = runtime.peer.request(Ask::new("file.read", RawJson::from_value(&hang))).await;
    let id = first.hears().await["id"].clone();
    drop(first);
    assert_eq!(soon(asked.outcome()).await.unwrap_err().code, RelayErrorCode::RelayDisconnected);
    resuming["resume"]["request_ids"] = json!([id]);
    for name in ["client_id", "capabilities"] {
        resuming[name] = offered[name].clone();
    }
    let (mut second, _) = Raw::accepted(&world, CONNECT, &token, resuming).await;
    second.say(json!({ "type": "cancel", "id": id })).await;
    second.say(json!({ "type": "ping", "id": "p", "ts": "2026-01-01T00:00:00Z" })).await;
    assert_eq!(second.hears().await["type"], "pong", "it is not asked again");
    second.say(json!({ "type": "response", "id": id, "result": {} })).await;
    assert_eq!(second.closed().await, Some(1008), "it is an answer to nothing");
}
