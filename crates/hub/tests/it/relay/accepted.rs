//! What a device is accepted for.

use jiff::{SignedDuration, Timestamp};
use protocol::relay::{BINARY_READ, Family, RootMode};
use serde_json::{Value, json};

use super::{
    device::Offering,
    world::{World, files, shell, soon, tools},
};

/// relay-2, relay-24, relay-25, relay-26, relay-127, relay-168: a device is accepted for what it offers and is granted, and nothing else: a root
/// that is not granted is not there, and one that is granted to be read is read only.
#[tokio::test]
async fn a_device_is_accepted_for_what_is_granted() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([files("ro"), tools()])).await;
    let accepted = device.accepted().await;
    assert_eq!(accepted.accepted_capabilities, [Family::Fileops, Family::Tools]);
    let roots: Vec<_> = accepted
        .accepted_roots
        .unwrap()
        .into_iter()
        .map(|root| (root.root_id.to_string(), root.mode))
        .collect();
    assert_eq!(roots, [("main".to_owned(), RootMode::Ro)]);
    assert!(!accepted.connection_id.is_empty());
    let said: Value = device.peer.accepted().await.unwrap().read().unwrap();
    let time = said["server_time"].as_str().unwrap();
    let ago = Timestamp::now().duration_since(time.parse().unwrap());
    assert!(time.ends_with('Z') && ago.abs() < SignedDuration::from_secs(10), "{time}");
}

/// relay-28: what only the device knows beyond the protocol is not used, and not asked of it.
#[tokio::test]
async fn what_only_the_device_knows_is_not_used() {
    let world = World::new().await;
    let mut offering = Offering::all();
    offering.capabilities.extensions = vec!["file.move".into(), "of.a.newer.peer".into()];
    let device = world.lend(offering, json!([files("rw")])).await;
    assert_eq!(device.accepted().await.extensions, [BINARY_READ]);
    let environment = world.environment(json!({})).await;
    let params = json!({ "root_id": "main", "path": "a", "to": "b" });
    assert_eq!(world.error(&environment, "file.move", params).await, "unknown_method");
    assert!(device.asked().is_empty());
}

/// relay-25, relay-128: nothing is there by default.
#[tokio::test]
async fn a_device_without_a_grant_is_accepted_for_nothing() {
    let world = World::new().await;
    let token = world.let_in("laptop").await;
    let device = world.connect(&token, Offering::all()).await;
    let accepted = device.accepted().await;
    assert_eq!((accepted.accepted_capabilities, accepted.accepted_roots), (Vec::new(), Some(Vec::new())));
}

/// relay-137: a shell without a sandbox is accepted only where the grant says that it will do.
#[tokio::test]
async fn a_shell_without_a_sandbox_must_be_granted_as_such() {
    let world = World::new().await;
    let mut offering = Offering::all();
    offering.capabilities.shell.as_mut().unwrap().runtime = "local_shell".into();
    let mut device = world.lend(offering.clone(), json!([shell()])).await;
    assert_eq!(device.accepted().await.accepted_capabilities, []);
    let mut granted = shell();
    granted["shell"]["unsandboxed"] = json!(true);
    world.grant("laptop", json!([granted])).await;
    device.unplug();
    let token = world.let_in("laptop").await;
    soon(async { while world.connection("laptop").await != json!(null) {} }).await;
    let device = world.connect(&token, offering).await;
    assert_eq!(device.accepted().await.accepted_capabilities, [Family::Shell]);
}

/// relay-137: what one runtime is granted neither takes commands from another nor vouches for them.
#[tokio::test]
async fn a_grant_says_nothing_of_the_sandbox_of_others() {
    let world = World::new().await;
    let mut offering = Offering::all();
    offering.capabilities.shell.as_mut().unwrap().runtime = "local_shell".into();
    let mut unsandboxed = shell();
    unsandboxed["shell"]["unsandboxed"] = json!(true);
    let device = world.lend(offering, json!([unsandboxed])).await;
    let one = world.environment(json!({})).await;
    let start = || json!({ "command": "true" });
    assert_eq!(world.ask(&one, "shell.start", start()).await.0, 200);
    let connection = world.connection("laptop").await["connectionId"].clone();
    world.add_runtime("other").await;
    let add = json!({ "clientId": "laptop", "runtimeId": "other", "capabilities": [shell()] });
    world.ok(reqwest::Method::POST, "/api/grants", Some(add)).await;
    let two = world.environment(json!({ "runtimeId": "other" })).await;
    assert_eq!(world.error(&two, "shell.start", start()).await, "permission_denied");
    assert_eq!(device.asked().len(), 1, "it does not reach the device");
    assert_eq!(world.ask(&one, "shell.start", start()).await.0, 200);
    assert_eq!(world.connection("laptop").await["connectionId"], connection);
    let view = |id| format!("/api/v1/relay/environments/{id}");
    let seen = world.ok(reqwest::Method::GET, &view(two.id), None).await;
    assert_eq!(seen["binding"]["capabilities"], json!([]), "nor is it shown");
}
