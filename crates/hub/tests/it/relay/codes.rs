//! Why a request comes to nothing, as those hear it who ask through the hub.

use protocol::relay::RelayErrorCode;
use reqwest::Method;
use serde_json::{Value, json};

use super::{
    device::{Device, Offering},
    raw::{Raw, door, hello, request},
    world::{Environment, World, files, shell, soon, tools},
};

/// A device with a tool that somebody must be asked for and one that nobody may use.
async fn lent() -> (World, Device, Environment) {
    let world = World::new().await;
    let offering = Offering::all().with_tool("ask", "always_ask").with_tool("never", "block");
    let computer = json!({ "capability": "computer", "enabled": true });
    let device = world.lend(offering, json!([files("rw"), shell(), tools(), computer])).await;
    let environment = world.environment(json!({})).await;
    (world, device, environment)
}

fn read(path: &str) -> Value {
    json!({ "root_id": "main", "path": path })
}

fn call(tool: &str) -> Value {
    json!({ "name": tool, "arguments": { "path": "a" } })
}

/// relay-41: each code comes of something, but for that of artifacts, which are not lent yet.
#[tokio::test]
async fn every_code_comes_of_something() {
    let (world, mut device, environment) = lent().await;
    let mut heard = Vec::new();
    for (method, params) in [
        ("file.read", json!({})),
        ("file.fly", json!({})),
        ("computer.see", json!({})),
        ("file.read", json!({ "root_id": "nothing", "path": "a" })),
        ("tool.call", call("ask")),
        ("tool.call", call("never")),
        ("file.read", read("missing")),
    ] {
        heard.push(json!(world.error(&environment, method, params).await));
    }
    let late = json!({ "method": "file.read", "params": read("hang"), "timeout_ms": 50 });
    let path = format!("/api/v1/relay/environments/{}/requests", environment.id);
    let late = world.request_as(&environment.secret, Method::POST, &path).json(&late);
    heard.push(soon(world.answer(late)).await.1["relay"]["code"].take());
    device.works_on(0).await;
    let (mut raw, _) =
        Raw::accepted(&world, &door(&environment), &environment.secret, hello("box", json!({}))).await;
    raw.say(request("a", "file.read", read("hang"))).await;
    device.works_on(1).await;
    raw.say(json!({ "type": "cancel", "id": "a", "reason": "user_cancelled" })).await;
    heard.push(raw.hears().await["error"]["code"].take());
    heard.push(json!(world.error(&environment, "file.read", read("broken")).await));
    raw.say(request("b", "file.read", read("hang"))).await;
    device.works_on(1).await;
    device.unplug();
    heard.push(raw.hears().await["error"]["code"].take());
    let expected: Vec<_> =
        RelayErrorCode::ALL.into_iter().filter(|code| *code != RelayErrorCode::ArtifactError).collect();
    assert_eq!(json!(heard), json!(expected));
}

/// relay-42: whoever is refused is told whether it can help to ask otherwise.
#[tokio::test]
async fn who_is_refused_is_told_whether_to_ask_otherwise() {
    let (world, _device, environment) = lent().await;
    for (method, params, code, recoverable) in [
        ("file.read", read("../a"), "permission_denied", true),
        ("file.read", read("missing"), "not_found", true),
        ("file.fly", json!({}), "unknown_method", false),
        ("tool.call", call("never"), "policy_blocked", false),
    ] {
        let (_, body) = world.ask(&environment, method, params).await;
        let error = &body["relay"];
        assert_eq!((&error["code"], &error["recoverable"]), (&json!(code), &json!(recoverable)), "{body}");
    }
}
