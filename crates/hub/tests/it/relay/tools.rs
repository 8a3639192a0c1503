//! The tools of a device.

use protocol::relay::RelayErrorCode;
use reqwest::Method;
use serde_json::json;

use super::{
    device::{Offering, tool},
    world::{World, soon, tools, until},
};

/// relay-87: arguments are checked before anything is sent; what is wrong is named by its place.
#[tokio::test]
async fn arguments_are_checked_before_they_are_sent() {
    let world = World::new().await;
    let device = world.lend(Offering::all().with_tool("open", "allow"), json!([tools()])).await;
    let environment = world.environment(json!({})).await;
    let call = |arguments| json!({ "name": "open", "arguments": arguments });
    let (status, body) = world.ask(&environment, "tool.call", call(json!({ "path": "a" }))).await;
    assert_eq!((status, &body["result"]["content"]), (200, &json!("used open")));
    for (arguments, pointer) in [(json!({ "path": "a", "line": "x" }), "/line"), (json!({}), "")] {
        let (_, body) = world.ask(&environment, "tool.call", call(arguments)).await;
        assert_eq!(body["relay"]["code"], "invalid_request", "{body}");
        assert_eq!(body["relay"]["details"]["pointer"], pointer);
    }
    assert_eq!(world.error(&environment, "tool.call", json!({ "name": "nothing" })).await, "not_found");
    assert_eq!(device.asked().len(), 1);
}

/// relay-30, relay-84, relay-85, relay-86, relay-88: a device registers tools and takes them away; those who use it are told, and each that is no tool is
/// refused by itself.
#[tokio::test]
async fn a_device_registers_tools_while_it_is_connected() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([tools()])).await;
    let environment = world.environment(json!({})).await;
    let runtime = world.runtime(&environment).await;
    let mut heard = runtime.events.subscribe();
    let mut remote = tool("remote", "allow");
    remote["input_schema"]["properties"]["path"] = json!({ "$ref": "https://example.com/schema.json" });
    let list = json!({ "tools": [tool("one", "allow"), tool("bad name", "allow"), remote, tool("one", "block"), tool("two", "block")] });
    let registered = device.ask("tool.register", list).await.unwrap();
    assert_eq!(registered["registered"], json!(["one", "two"]));
    let rejected: Vec<_> =
        registered["rejected"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(rejected.len(), 3, "{registered}");
    assert!(rejected.contains(&"bad name") && rejected.contains(&"remote") && rejected.contains(&"one"));
    let (event, payload) = soon(heard.recv()).await.unwrap();
    assert_eq!((event.as_str(), payload["tools"].as_array().unwrap().len()), ("tool.registered", 2));
    let use_one = || json!({ "name": "one", "arguments": { "path": "a" } });
    assert_eq!(runtime.ask("tool.call", use_one()).await.unwrap()["content"], "used one");
    let blocked = runtime.ask("tool.call", json!({ "name": "two", "arguments": { "path": "a" } })).await;
    assert_eq!(blocked.unwrap_err().code, RelayErrorCode::PolicyBlocked);
    device
        .ask("tool.unregister", json!({ "names": ["one", "three"] }))
        .await
        .map(|gone| {
            assert_eq!(gone["unregistered"], json!(["one"]));
        })
        .unwrap();
    assert_eq!(soon(heard.recv()).await.unwrap().0, "tool.unregistered");
    assert_eq!(runtime.ask("tool.call", use_one()).await.unwrap_err().code, RelayErrorCode::NotFound);
    // By an event it is the same.
    device.says("tool.registered", json!({ "tools": [tool("one", "allow")] })).await;
    soon(heard.recv()).await.unwrap();
    runtime.ask("tool.call", use_one()).await.unwrap();
}

/// relay-30: a device asks nothing of the hub that it was not accepted for, and nothing that is for runtimes.
#[tokio::test]
async fn a_device_asks_only_what_it_may() {
    let world = World::new().await;
    let device = world.lend(Offering::all(), json!([])).await;
    for (method, code) in [
        ("tool.register", RelayErrorCode::CapabilityUnavailable),
        ("artifact.reserve", RelayErrorCode::CapabilityUnavailable),
        ("file.read", RelayErrorCode::InvalidRequest),
        ("something.new", RelayErrorCode::UnknownMethod),
    ] {
        assert_eq!(device.ask(method, json!({ "tools": [] })).await.unwrap_err().code, code, "{method}");
    }
    until(|| async { !world.ok(Method::GET, "/api/v1/relay/status", None).await["devices"][0].is_null() })
        .await;
}

/// relay-86: while the hub finds out which tools there are, those that there are stay there.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_tool_is_there_while_others_are_looked_for() {
    let world = World::new().await;
    let device = world.lend(Offering::all().with_tool("open", "allow"), json!([tools()])).await;
    let (one, two) = (world.environment(json!({})).await, world.environment(json!({})).await);
    let (uses, looks) = (world.runtime(&one).await, world.runtime(&two).await);
    let looking = async {
        for _ in 0..200 {
            let missing = looks.ask("tool.call", json!({ "name": "nothing" })).await.unwrap_err();
            assert_eq!(missing.code, RelayErrorCode::NotFound);
        }
    };
    let using = async {
        for _ in 0..400 {
            uses.ask("tool.call", json!({ "name": "open", "arguments": { "path": "a" } })).await.unwrap();
        }
    };
    tokio::join!(looking, using);
    assert_eq!(device.asked().len(), 400);
}
