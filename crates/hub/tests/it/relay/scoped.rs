//! Whoever changes one of what a grant is for has nothing (relay-173).

use reqwest::Method;
use serde_json::json;

use super::{
    device::Offering,
    world::{World, files, readme, shell},
};

/// relay-33, relay-127, relay-133, relay-173: another capability, another root and another mode than what is granted.
#[tokio::test]
async fn only_what_is_granted_is_there() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([files("ro")])).await;
    let environment = world.environment(json!({})).await;
    assert_eq!(world.ask(&environment, "file.read", readme()).await.0, 200);
    for (method, params, code) in [
        ("file.read", json!({ "root_id": "docs", "path": "a" }), "permission_denied"),
        ("file.read", json!({ "root_id": "nothing", "path": "a" }), "permission_denied"),
        ("file.write", json!({ "root_id": "main", "path": "a", "content": "b" }), "permission_denied"),
        ("file.mkdir", json!({ "root_id": "main", "path": "a" }), "permission_denied"),
        ("file.delete", json!({ "root_id": "main", "path": "a" }), "permission_denied"),
        ("file.read", json!({ "root_id": "main", "path": "../a" }), "permission_denied"),
        ("file.read", json!({ "root_id": "main", "path": "/etc/passwd" }), "invalid_request"),
        ("file.read", json!({ "root_id": "main", "path": "a\\b" }), "invalid_request"),
        ("file.read", json!({ "path": "a" }), "invalid_request"),
        ("file.read", json!([]), "invalid_request"),
        ("shell.start", json!({ "command": "true" }), "permission_denied"),
        ("tool.call", json!({ "name": "a" }), "permission_denied"),
        ("computer.see", json!({}), "permission_denied"),
        ("tool.register", json!({ "tools": [] }), "invalid_request"),
        ("file.fly", json!({}), "unknown_method"),
    ] {
        assert_eq!(world.error(&environment, method, params.clone()).await, code, "{method} {params}");
    }
    assert_eq!(device.asked().len(), 1, "nothing of it reached the device");
}

/// relay-33: what is granted and not offered was not accepted.
#[tokio::test]
async fn what_is_not_offered_is_not_there() {
    let world = World::new().await;
    let computer = json!({ "capability": "computer", "enabled": true });
    let mut offering = Offering::all();
    offering.capabilities.shell.as_mut().unwrap().enabled = false;
    let device = world.lend(offering, json!([files("ro"), shell(), computer])).await;
    let environment = world.environment(json!({})).await;
    for (method, params) in [("shell.start", json!({ "command": "true" })), ("computer.see", json!({}))] {
        assert_eq!(world.error(&environment, method, params).await, "capability_unavailable");
    }
    assert!(device.asked().is_empty());
}

/// relay-125, relay-128, relay-173: another device, another runtime, another workspace, another space, another environment.
#[tokio::test]
async fn a_grant_is_for_one_device_one_runtime_and_one_space() {
    let world = World::new().await;
    let _device = world.lend(Offering::all(), json!([])).await;
    let grant = json!({
        "clientId": "laptop", "runtimeId": "box", "scopeId": "space-1", "capabilities": [files("ro")],
    });
    world.ok(Method::POST, "/api/grants", Some(grant)).await;
    world.add_runtime("other").await;
    world.let_in("phone").await;
    let good = world.environment(json!({ "scopeId": "space-1" })).await;
    super::world::until(|| async { world.ask(&good, "file.read", readme()).await.0 == 200 }).await;
    for other in [
        json!({}),
        json!({ "scopeId": "space-2" }),
        json!({ "scopeId": "space-1", "runtimeId": "other" }),
        json!({ "scopeId": "space-1", "clientId": "phone" }),
        json!({ "scopeId": "space-1", "capabilities": ["shell"] }),
        json!({ "scopeId": "space-1", "roots": ["docs"] }),
    ] {
        let environment = world.environment(other.clone()).await;
        assert_eq!(world.error(&environment, "file.read", readme()).await, "permission_denied", "{other}");
        // The secret of one is no good for another.
        let mixed = super::world::Environment { id: good.id, secret: environment.secret };
        assert_eq!(world.ask(&mixed, "file.read", readme()).await.0, 401);
    }
    let runtime = json!({ "id": "lab-box", "workspace": "lab", "endpoint": "http://127.0.0.1:9" });
    world.ok(Method::POST, "/api/runtimes", Some(runtime)).await;
    for (path, body) in [
        ("/api/v1/relay/environments", json!({ "runtimeId": "lab-box", "clientId": "laptop" })),
        ("/api/grants", json!({ "runtimeId": "lab-box", "clientId": "laptop", "capabilities": [] })),
    ] {
        let (status, problem) = world.answer(world.request(Method::POST, path).json(&body)).await;
        assert_eq!(status, 404, "{problem}");
    }
}

/// relay-120, relay-173: another connection: what one was accepted for is not there on the next, which offers less.
#[tokio::test]
async fn what_is_accepted_is_accepted_on_one_connection() {
    let world = World::new().await;
    let token = world.let_in("laptop").await;
    world.grant("laptop", json!([files("ro"), shell()])).await;
    let first = world.connect(&token, Offering::all()).await;
    let environment = world.environment(json!({})).await;
    assert_eq!(world.ask(&environment, "file.read", readme()).await.0, 200);
    let mut less = Offering::all();
    less.capabilities.fileops = None;
    let second = world.connect(&token, less).await;
    assert_eq!(world.error(&environment, "file.read", readme()).await, "capability_unavailable");
    assert_eq!(world.ask(&environment, "shell.start", json!({ "command": "true" })).await.0, 200);
    assert_eq!((first.asked().len(), second.asked().len()), (1, 1));
}

/// Who may lend, grant and use: what is done to devices needs a role in their workspace.
#[tokio::test]
async fn what_is_done_to_devices_needs_a_role() {
    let world = World::new().await;
    world.lend(Offering::all(), json!([files("ro")])).await;
    let environment = world.environment(json!({})).await;
    let mut tokens = Vec::new();
    for (name, roles) in [
        ("v", json!({ "default": "viewer" })),
        ("c", json!({ "default": "controller" })),
        ("o", json!({ "default": "owner" })),
        ("x", json!({ "lab": "owner" })),
    ] {
        world.ok(Method::POST, "/api/users", Some(json!({ "name": name, "roles": roles }))).await;
        let token = world.ok(Method::POST, "/api/tokens", Some(json!({ "name": "t", "user": name }))).await;
        tokens.push(token["secret"].as_str().unwrap().to_owned());
    }
    let id = environment.id;
    let add = json!({ "clientId": "laptop", "runtimeId": "box" });
    let grant = json!({ "clientId": "laptop", "runtimeId": "box", "capabilities": [] });
    for (method, path, body, expected) in [
        ("GET", "/api/devices/laptop".to_owned(), json!(null), [200, 200, 200, 404]),
        ("POST", "/api/devices".into(), json!({ "clientId": "phone" }), [403, 403, 201, 403]),
        ("POST", "/api/grants".into(), grant, [403, 403, 201, 404]),
        ("POST", "/api/v1/relay/environments".into(), add, [403, 201, 201, 404]),
        ("GET", format!("/api/v1/relay/environments/{id}"), json!(null), [200, 200, 200, 404]),
        ("GET", "/api/v1/relay/audit".into(), json!(null), [403, 403, 403, 403]),
        ("GET", "/api/v1/relay/status".into(), json!(null), [403, 403, 403, 403]),
        ("PUT", "/api/workspaces/default/relay".into(), json!({ "enabled": true }), [403, 403, 200, 403]),
        ("DELETE", format!("/api/v1/relay/environments/{id}"), json!(null), [403, 204, 404, 404]),
        ("POST", "/api/devices/laptop/stop".into(), json!(null), [403, 204, 204, 404]),
        ("DELETE", "/api/devices/laptop".into(), json!(null), [403, 403, 204, 404]),
    ] {
        for (token, expected) in tokens.iter().zip(expected) {
            let mut request = world.request_as(token, method.parse().unwrap(), &path);
            if !body.is_null() {
                request = request.json(&body);
            }
            let (status, answer) = world.answer(request).await;
            assert_eq!(status, expected, "{method} {path}: {answer}");
        }
    }
    let devices = world.answer(world.request_as(&tokens[3], Method::GET, "/api/devices")).await;
    assert_eq!(devices.1["items"], json!([]));
}
