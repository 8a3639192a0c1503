//! Devices that are let in by a code.

use reqwest::Method;
use serde_json::json;

use super::{
    device::{Device, Offering},
    world::{World, files, readme, soon},
};

async fn begin(world: &World) -> (String, String) {
    let begin = json!({ "clientId": "laptop", "label": "Ana's laptop", "capabilities": Offering::all().capabilities });
    // Nobody is known yet.
    let http = reqwest::Client::new();
    let pairing =
        http.post(format!("{}/api/devices/pairings", world.base)).json(&begin).send().await.unwrap();
    assert_eq!(pairing.status(), 201);
    let pairing: serde_json::Value = pairing.json().await.unwrap();
    assert!(pairing["pollIntervalMs"].is_u64() && pairing["expiresAt"].is_string());
    (pairing["code"].as_str().unwrap().into(), pairing["claimSecret"].as_str().unwrap().into())
}

async fn claim(world: &World, secret: &str) -> (u16, serde_json::Value) {
    world.answer(world.request_as(secret, Method::POST, "/api/devices/pairings/claim")).await
}

/// relay-125, relay-170: a device is let in by a code, and its token is told to it alone, once.
#[tokio::test]
async fn a_device_is_let_in_by_its_code() {
    let world = World::new().await;
    let (code, secret) = begin(&world).await;
    assert_eq!(claim(&world, &secret).await, (202, json!({ "state": "waiting" })));
    let seen = world.ok(Method::GET, &format!("/api/devices/pairings/{code}"), None).await;
    assert_eq!((&seen["clientId"], &seen["label"]), (&json!("laptop"), &json!("Ana's laptop")));
    assert_eq!(seen["capabilities"]["fileops"]["roots"][0]["root_id"], "main");
    let confirm = json!({ "runtimes": ["box"], "capabilities": [files("ro")] });
    let path = format!("/api/devices/pairings/{}/confirm", code.to_lowercase());
    let confirmed = world.ok(Method::POST, &path, Some(confirm.clone())).await;
    assert_eq!(confirmed["grants"][0]["runtime_id"], "box");
    assert!(!confirmed.to_string().contains("tombolo_dev_"), "who confirms does not get the token");
    let (status, claimed) = claim(&world, &secret).await;
    assert_eq!(
        (status, &claimed["state"], &claimed["clientId"]),
        (200, &json!("confirmed"), &json!("laptop"))
    );
    assert_eq!(claim(&world, &secret).await.0, 401, "it is told once");
    let again = world.answer(world.request(Method::POST, &path).json(&confirm)).await;
    assert_eq!((again.0, &again.1["type"]), (404, &json!("urn:problem:pairing-not-found")));
    let _device = world.connect(claimed["token"].as_str().unwrap(), Offering::all()).await;
    let environment = world.environment(json!({})).await;
    assert_eq!(world.ask(&environment, "file.read", readme()).await.0, 200);
}

/// A device that is refused is told so, and the secret it asks with lets it in nowhere.
#[tokio::test]
async fn a_device_that_is_refused_is_told_so() {
    let world = World::new().await;
    let (code, secret) = begin(&world).await;
    assert!(Device::connect(&world.client(&secret), "laptop", Offering::all()).await.is_err());
    world.ok(Method::POST, &format!("/api/devices/pairings/{code}/refuse"), None).await;
    let (status, problem) = soon(claim(&world, &secret)).await;
    assert_eq!((status, &problem["type"]), (403, &json!("urn:problem:pairing-refused")));
    assert_eq!(world.ok(Method::GET, "/api/devices", None).await["items"], json!([]));
    let unknown = world.answer(world.request(Method::GET, "/api/devices/pairings/AAAA-AAAA")).await;
    assert_eq!(unknown.0, 404);
}

/// A device that is paired under the name of another has only what is granted with its code: not the grants, the environments
/// or the remembered approvals of the earlier one.
#[tokio::test]
async fn a_device_that_is_paired_again_inherits_nothing() {
    let world = World::new().await;
    let old_token = world.let_in("laptop").await;
    world.grant("laptop", json!([files("ro")])).await;
    let old = world.connect(&old_token, Offering::all()).await;
    let environment = world.environment(json!({})).await;
    assert_eq!(world.ask(&environment, "file.read", readme()).await.0, 200);
    drop(old);
    let (code, secret) = begin(&world).await;
    let confirm = json!({ "runtimes": [], "capabilities": [] });
    world.ok(Method::POST, &format!("/api/devices/pairings/{code}/confirm"), Some(confirm)).await;
    let (_, claimed) = claim(&world, &secret).await;
    let returned = Device::connect(&world.client(&old_token), "laptop", Offering::all()).await;
    assert!(returned.is_err(), "the earlier device cannot return under the name of the new one");
    let device = world.connect(claimed["token"].as_str().unwrap(), Offering::all()).await;
    assert_eq!(world.ok(Method::GET, "/api/grants", None).await["items"], json!([]));
    assert_eq!(world.ask(&environment, "file.read", readme()).await.0, 401, "the environment is gone");
    assert!(device.asked().is_empty());
}

/// A user who could not confirm a device can neither look at its code nor refuse it.
#[tokio::test]
async fn a_code_is_for_those_who_may_confirm_it() {
    let world = World::new().await;
    let (code, secret) = begin(&world).await;
    let look = format!("/api/devices/pairings/{code}");
    let refuse = format!("{look}/refuse");
    for (user, role, expected) in [
        ("norah", None, 403),
        ("vera", Some("viewer"), 403),
        ("carl", Some("controller"), 403),
        ("olga", Some("owner"), 204),
    ] {
        let roles = role.map_or(json!({}), |role| json!({ "default": role }));
        world.ok(Method::POST, "/api/users", Some(json!({ "name": user, "roles": roles }))).await;
        let token = json!({ "name": user, "user": user });
        let token =
            world.ok(Method::POST, "/api/tokens", Some(token)).await["secret"].as_str().unwrap().to_owned();
        let looked = world.answer(world.request_as(&token, Method::GET, &look)).await;
        assert_eq!(looked.0, if expected == 403 { 403 } else { 200 }, "{user}: {looked:?}");
        assert_eq!(world.answer(world.request_as(&token, Method::POST, &refuse)).await.0, expected, "{user}");
        let still = claim(&world, &secret).await.0;
        assert_eq!(still, if expected == 403 { 202 } else { 403 }, "{user}");
    }
}
