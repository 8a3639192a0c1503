//! How it is with everything that is lent.

use reqwest::Method;
use serde_json::json;

use super::{
    device::Offering,
    world::{World, files, readme, until},
};

/// relay-55, relay-117, relay-178: one request shows connections, what is accepted, what waits, what went wrong, and the audit's head.
#[tokio::test]
async fn the_whole_state_is_shown() {
    let world = World::new().await;
    let device = world
        .lend(Offering::all().with_tool("open", "allow"), json!([files("ro"), super::world::tools()]))
        .await;
    let environment = world.environment(json!({ "sessionId": "s1" })).await;
    let runtime = world.runtime(&environment).await;
    let hang = relay::Ask::new(
        "file.read",
        protocol::relay::RawJson::from_value(&json!({ "root_id": "main", "path": "hang" })),
    );
    let waiting = runtime.peer.request(hang).await;
    device.works_on(1).await;
    assert_eq!(
        world.error(&environment, "file.read", json!({ "root_id": "main", "path": "missing" })).await,
        "not_found"
    );
    until(|| async {
        let status = world.ok(Method::GET, "/api/v1/relay/status", None).await;
        let device = &status["devices"][0];
        device["connection"]["latencyUs"].is_u64() && device["tools"] == json!(["open"])
    })
    .await;
    let status = world.ok(Method::GET, "/api/v1/relay/status", None).await;
    let device = &status["devices"][0];
    assert_eq!((&device["clientId"], &device["pendingRequests"]), (&json!("laptop"), &json!(1)));
    assert_eq!(device["connection"]["capabilities"], json!(["fileops", "tools"]));
    assert_eq!(device["connection"]["roots"][0]["mode"], "ro");
    assert_eq!(
        (&device["errors"][0]["method"], &device["errors"][0]["error"]),
        (&json!("file.read"), &json!("not_found"))
    );
    let shown = &status["environments"][0];
    assert_eq!((&shown["id"], &shown["pendingRequests"]), (&json!(environment.id.to_string()), &json!(1)));
    assert_eq!(shown["binding"]["roots"][0]["root_id"], "main");
    // All that has begun and ended is written a moment later.
    until(|| async {
        let audit = world.raw_audit().await;
        let status = world.ok(Method::GET, "/api/v1/relay/status", None).await;
        audit.len() == 3 && status["auditHead"]["hash"] == audit[2]["hash"]
    })
    .await;
    drop(waiting);
    let metrics = world.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
    for line in [
        "tombolo_hub_relay_devices 1",
        "tombolo_hub_relay_environments 1",
        "tombolo_hub_relay_approvals_open 0",
        "tombolo_hub_relay_requests_total{family=\"fileops\",outcome=\"not_found\"} 1",
    ] {
        assert!(metrics.contains(line), "{line}\n{metrics}");
    }
    let read = world.ask(&environment, "file.read", readme()).await;
    assert_eq!(read.0, 200);
}
