//! An environment is there for as long as who made it could do so, and for no longer than what they made it with.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use protocol::EnvironmentId;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    device::Offering,
    world::{Environment, World, files, readme, until},
};

/// How long it may take until it is gone.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Somebody who drives sessions; what they come in with, until then if that is said.
async fn controller(world: &World, name: &str, until: Option<Timestamp>) -> String {
    let add = json!({ "name": name, "roles": { "default": "controller" } });
    world.ok(Method::POST, "/api/users", Some(add)).await;
    let add = json!({ "name": "t", "user": name, "expiresAt": until });
    let token = world.ok(Method::POST, "/api/tokens", Some(add)).await;
    token["secret"].as_str().unwrap().to_owned()
}

/// The environment that somebody makes.
async fn made_by(world: &World, token: &str) -> (Environment, Value) {
    let add = json!({ "runtimeId": "box", "clientId": "laptop" });
    let request = world.request_as(token, Method::POST, "/api/v1/relay/environments").json(&add);
    let (status, added) = world.answer(request).await;
    assert_eq!(status, 201, "{added}");
    let id: EnvironmentId = added["environment"]["id"].as_str().unwrap().parse().unwrap();
    let secret = added["secret"].as_str().unwrap().to_owned();
    (Environment { id, secret }, added["environment"].clone())
}

/// relay-125, relay-156, relay-157: who is removed, or may no longer drive sessions, leaves nothing that could still be used, also if
/// somebody has the name again.
#[tokio::test]
async fn an_environment_ends_when_who_made_it_may_not_have_it() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([files("ro")])).await;
    let demote = json!({ "roles": { "default": "viewer" } });
    for (name, method, body) in
        [("ana", Method::DELETE, None), ("bo", Method::PUT, Some(demote)), ("cy", Method::DELETE, None)]
    {
        let token = controller(&world, name, None).await;
        let (environment, view) = made_by(&world, &token).await;
        assert_eq!((&view["createdBy"], &view["expiresAt"]), (&json!(name), &Value::Null));
        let mut runtime = world.runtime(&environment).await;
        assert_eq!(world.ask(&environment, "file.read", readme()).await.0, 200);
        let hang = json!({ "root_id": "main", "path": "hang" });
        let ask = relay::Ask::new("file.read", protocol::relay::RawJson::from_value(&hang));
        let call = runtime.peer.request(ask).await;
        device.works_on(1).await;
        let since = Instant::now();
        world.ok(method, &format!("/api/users/{name}"), body).await;
        if name == "cy" {
            controller(&world, name, None).await;
        }
        super::world::soon(call.outcome()).await.unwrap_err();
        runtime.ended().await;
        device.works_on(0).await;
        assert!(since.elapsed() < AT_ONCE, "{:?}", since.elapsed());
        assert_eq!(world.ask(&environment, "file.read", readme()).await.0, 401);
    }
    let left = world.ok(Method::GET, "/api/v1/relay/environments", None).await;
    assert_eq!(left["items"], json!([]));
}

/// relay-125, relay-130: an environment does not outlive the token that it was made with.
#[tokio::test]
async fn an_environment_ends_with_its_token() {
    let world = World::new().await;
    let _device = world.lend(Offering::all(), json!([files("ro")])).await;
    let expires = Timestamp::now() + SignedDuration::from_millis(1500);
    let token = controller(&world, "ana", Some(expires)).await;
    let (environment, view) = made_by(&world, &token).await;
    assert_eq!(view["expiresAt"], json!(expires.to_string()));
    assert_eq!(world.ask(&environment, "file.read", readme()).await.0, 200);
    let mut runtime = world.runtime(&environment).await;
    runtime.ended().await;
    let late = Timestamp::now().duration_since(expires);
    assert!(late.abs() < SignedDuration::from_secs(1) && !late.is_negative(), "{late:?}");
    assert_eq!(world.ask(&environment, "file.read", readme()).await.0, 401);
    until(|| async { world.ok(Method::GET, "/api/v1/relay/environments", None).await["items"] == json!([]) })
        .await;
}
