//! What a device says while it is connected.

use std::collections::BTreeSet;

use protocol::relay::{EventFrame, RelayEvent};
use serde_json::json;

use super::{
    device::Offering,
    sessions::Recorder,
    world::{World, files, readme, shell, soon, until},
};

/// relay-59, relay-60: a family that the device says is not there is not asked for any more, until it is there again.
#[tokio::test]
async fn a_family_is_there_or_not_as_the_device_says() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([files("ro"), shell()])).await;
    let environment = world.environment(json!({})).await;
    let runtime = world.runtime(&environment).await;
    let mut heard = runtime.events.subscribe();
    for (state, is_there) in [
        ("offline", false),
        ("degraded", true),
        ("paused", false),
        ("online", true),
        ("something_new", false),
    ] {
        device.says("capability.updated", json!({ "capability": "fileops", "state": state })).await;
        // The runtime is told too, after the hub knows.
        assert_eq!(soon(heard.recv()).await.unwrap().0, "capability.updated");
        let before = device.asked().len();
        let (status, body) = world.ask(&environment, "file.read", readme()).await;
        match is_there {
            true => assert_eq!(status, 200, "{body}"),
            false => {
                assert_eq!((status, &body["relay"]["code"]), (409, &json!("capability_unavailable")));
                assert_eq!(device.asked().len(), before, "it does not reach the device");
            }
        }
        let shell = runtime.ask("shell.start", json!({ "command": "true" })).await;
        assert!(shell.is_ok(), "another family is not concerned: {shell:?}");
    }
}

/// relay-61: while a device is paused nothing new is done, and what goes on goes on.
#[tokio::test]
async fn a_device_that_is_paused_begins_nothing_new() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([files("ro")])).await;
    let environment = world.environment(json!({})).await;
    let runtime = world.runtime(&environment).await;
    let mut heard = runtime.events.subscribe();
    let going_on = runtime.peer.request(relay::Ask::new(
        "file.read",
        protocol::relay::RawJson::from_value(&json!({ "root_id": "main", "path": "hang" })),
    ));
    let going_on = going_on.await;
    device.works_on(1).await;
    device.says("provider.paused", json!({ "reason": "lunch" })).await;
    assert_eq!(soon(heard.recv()).await.unwrap(), ("provider.paused".into(), json!({ "reason": "lunch" })));
    assert_eq!(world.connection("laptop").await["isPaused"], true);
    assert_eq!(world.error(&environment, "file.read", readme()).await, "capability_unavailable");
    device.works_on(1).await;
    device.says("provider.resumed", json!({})).await;
    soon(heard.recv()).await.unwrap();
    assert_eq!(world.ask(&environment, "file.read", readme()).await.0, 200);
    drop(going_on);
    device.works_on(0).await;
}

/// relay-57, relay-58, relay-63: an event that is not known is counted, and nothing comes of it.
#[tokio::test]
async fn an_event_that_is_not_known_is_counted() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([files("ro")])).await;
    device.says("something.new", json!({ "a": 1 })).await;
    device.says("capability.updated", json!({ "capability": "teleport" })).await;
    let unknown = || async {
        let status = world.ok(reqwest::Method::GET, "/api/v1/relay/status", None).await;
        status["devices"][0]["unknownEvents"].as_u64().unwrap()
    };
    until(|| async { unknown().await == 2 }).await;
    let environment = world.environment(json!({})).await;
    assert_eq!(world.ask(&environment, "file.read", readme()).await.0, 200);
    assert_eq!(device.asked().len(), 1, "nothing was begun by it");
}

/// relay-62: whatever a device says has happened, nothing is begun by it: not in the session that uses it, and not at the device.
#[tokio::test]
async fn no_event_begins_anything() {
    let world = World::new().await;
    let recorder = Recorder::start(&world, "rec").await;
    let device = world.lend(Offering::all(), json!([files("ro"), shell()])).await;
    let create = json!({ "agent": "mock", "environment": { "clientId": "laptop" } });
    world.ok(reqwest::Method::POST, "/api/runtimes/rec/v1/sessions/s1", Some(create)).await;
    let told = recorder.told.lock().clone();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/relay/events.json");
    let events: Vec<EventFrame> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let names: BTreeSet<_> = events.iter().map(|frame| frame.event.as_str()).collect();
    assert_eq!(names, RelayEvent::NAMES.iter().copied().collect());
    for frame in &events {
        device.peer.event(frame.event.clone(), frame.payload.clone()).await.unwrap();
    }
    device.says("the.last", json!({})).await;
    until(|| async {
        let status = world.ok(reqwest::Method::GET, "/api/v1/relay/status", None).await;
        status["devices"][0]["unknownEvents"] == 1
    })
    .await;
    assert_eq!(*recorder.told.lock(), told);
    assert!(device.asked().is_empty());
}
