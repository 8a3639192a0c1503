//! Sessions that are made through the hub with a device.

use std::sync::Arc;

use axum::{Router, body::Bytes, extract::State, http::StatusCode, routing::any};
use parking_lot::Mutex;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinSet};

use super::{
    device::{Device, Offering},
    world::{World, files, tools, until},
};

/// A runtime that keeps what it was told, and makes every session, but for those that are called `taken`; those that are called
/// `slow` are never made, and those that are called `gone` have been deleted before.
pub(super) struct Recorder {
    pub(super) told: Arc<Mutex<Vec<Value>>>,
    _tasks: JoinSet<()>,
}

impl Recorder {
    pub(super) async fn start(world: &World, id: &str) -> Self {
        let told: Arc<Mutex<Vec<Value>>> = Arc::default();
        let answer = |State(told): State<Arc<Mutex<Vec<Value>>>>,
                      method: axum::http::Method,
                      request: axum::http::Uri,
                      body: Bytes| async move {
            told.lock().push(serde_json::from_slice(&body).unwrap_or_default());
            let status = match request.path().rsplit('/').next().unwrap() {
                "taken" => StatusCode::CONFLICT,
                "slow" => std::future::pending().await,
                "gone" if method == axum::http::Method::DELETE => StatusCode::NOT_FOUND,
                _ => StatusCode::OK,
            };
            (status, "{}")
        };
        let router = Router::new().route("/{*path}", any(answer)).with_state(Arc::clone(&told));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
        world.ok(Method::POST, "/api/runtimes", Some(json!({ "id": id, "endpoint": endpoint }))).await;
        Self { told, _tasks: tasks }
    }
}

async fn environments(world: &World) -> Vec<Value> {
    let list = world.ok(Method::GET, "/api/v1/relay/environments", None).await;
    list["items"].as_array().unwrap().clone()
}

/// relay-90, relay-116: a session that is made with a device gets it as an MCP server, with a secret that is good for nothing else; when the
/// session is deleted the environment is gone.
#[tokio::test]
async fn a_session_gets_its_device_as_an_mcp_server() {
    let world = World::new().await;
    let recorder = Recorder::start(&world, "rec").await;
    let token = world.let_in("laptop").await;
    let grant = json!({ "clientId": "laptop", "runtimeId": "rec", "capabilities": [files("ro")] });
    world.ok(Method::POST, "/api/grants", Some(grant)).await;
    let _device = world.connect(&token, Offering::all()).await;
    let create = json!({
        "agent": "mock", "mcp": { "mine": { "type": "local", "command": "x" } },
        "environment": { "clientId": "laptop", "capabilities": ["fileops"] },
    });
    world.ok(Method::POST, "/api/runtimes/rec/v1/sessions/s1", Some(create)).await;
    let told = recorder.told.lock()[0].clone();
    assert_eq!((&told["agent"], &told["environment"]), (&json!("mock"), &json!(null)));
    assert_eq!(told["mcp"]["mine"]["command"], "x");
    let server = &told["mcp"]["device"];
    let made = environments(&world).await;
    assert_eq!((made.len(), &made[0]["sessionId"], &made[0]["runtimeId"]), (1, &json!("s1"), &json!("rec")));
    let url = server["url"].as_str().unwrap();
    assert_eq!(
        url,
        format!("{}/api/v1/relay/environments/{}/mcp", world.base, made[0]["id"].as_str().unwrap())
    );
    let secret = server["headers"]["Authorization"].as_str().unwrap().strip_prefix("Bearer ").unwrap();
    // Any MCP client can use it.
    let path = url.strip_prefix(&world.base).unwrap();
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    } });
    let request = |token: &str| {
        let request = world.request_as(token, Method::POST, path);
        request.header("accept", "application/json, text/event-stream").json(&initialize)
    };
    let answer = request(secret).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert!(answer.text().await.unwrap().contains("serverInfo"));
    assert_eq!(
        request(&world.token).send().await.unwrap().status(),
        401,
        "the token of a user opens no door"
    );
    let devices = world.request_as(secret, Method::GET, "/api/devices").send().await.unwrap();
    assert_eq!(devices.status(), 401, "nor is the secret good for anything else");
    world.ok(Method::DELETE, "/api/runtimes/rec/v1/sessions/s1", None).await;
    assert_eq!(environments(&world).await.len(), 0);
    assert_eq!(request(secret).send().await.unwrap().status(), 401);
}

/// What is said of a device that cannot be used is refused before the runtime is asked; a session that was not made leaves
/// nothing; and without `environment` nothing is changed.
#[tokio::test]
async fn a_session_that_is_not_made_leaves_no_environment() {
    let world = World::new().await;
    let recorder = Recorder::start(&world, "rec").await;
    world.let_in("laptop").await;
    let post = |session: &str, environment: Value| {
        let path = format!("/api/runtimes/rec/v1/sessions/{session}");
        let body = json!({ "agent": "mock", "environment": environment });
        world.answer(world.request(Method::POST, &path).json(&body))
    };
    for (environment, status) in
        [(json!({ "clientId": "nobody" }), 404), (json!({ "clientId": 1 }), 400), (json!([]), 400)]
    {
        assert_eq!(post("s1", environment.clone()).await.0, status, "{environment}");
    }
    assert!(recorder.told.lock().is_empty());
    assert_eq!(post("taken", json!({ "clientId": "laptop" })).await.0, 409);
    assert_eq!(recorder.told.lock().len(), 1);
    assert_eq!(environments(&world).await.len(), 0);
    let plain = json!({ "agent": "mock", "token": "t" });
    world.ok(Method::POST, "/api/runtimes/rec/v1/sessions/s2", Some(plain.clone())).await;
    assert_eq!(recorder.told.lock()[1], plain);
}

/// relay-88: tools of two devices may have the same name: an environment is of one device, and a session that has a server of the
/// name of ours already gets ours under another.
#[tokio::test]
async fn tools_of_two_devices_do_not_meet() {
    let world = World::new().await;
    let recorder = Recorder::start(&world, "rec").await;
    let mut devices = Vec::new();
    for name in ["laptop", "phone"] {
        let token = world.let_in(name).await;
        world.grant(name, json!([tools()])).await;
        let offering = Offering::all().with_tool("open", "allow");
        devices.push(Device::connect(&world.client(&token), name, offering).await.unwrap());
        until(|| async { !world.connection(name).await.is_null() }).await;
    }
    let call = json!({ "name": "open", "arguments": { "path": "a" } });
    for (name, expected) in [("laptop", [1, 0]), ("phone", [1, 1])] {
        let environment = world.environment(json!({ "clientId": name })).await;
        assert_eq!(world.ask(&environment, "tool.call", call.clone()).await.0, 200);
        assert_eq!([devices[0].asked().len(), devices[1].asked().len()], expected, "{name}");
    }
    let other = json!({ "type": "remote", "url": "http://phone.example/mcp" });
    let create =
        json!({ "agent": "mock", "mcp": { "device": other }, "environment": { "clientId": "laptop" } });
    world.ok(Method::POST, "/api/runtimes/rec/v1/sessions/s1", Some(create)).await;
    let mcp = recorder.told.lock()[0]["mcp"].clone();
    assert_eq!((&mcp["device"], mcp.as_object().unwrap().len()), (&other, 2));
    assert!(mcp["device2"]["url"].as_str().unwrap().starts_with(&world.base), "{mcp}");
}

/// relay-116: whoever hangs up before there is a session leaves no environment.
#[tokio::test]
async fn who_hangs_up_leaves_no_environment() {
    let world = World::new().await;
    let recorder = Recorder::start(&world, "rec").await;
    world.let_in("laptop").await;
    let body = json!({ "agent": "mock", "environment": { "clientId": "laptop" } });
    let request = world.request(Method::POST, "/api/runtimes/rec/v1/sessions/slow").json(&body).send();
    tokio::select! {
        _ = request => panic!("it is never made"),
        () = until(|| async { !recorder.told.lock().is_empty() }) => {}
    }
    until(|| async { environments(&world).await.is_empty() }).await;
}

/// relay-116: a session that is not there any more has no environment either: when it was deleted the answer may have been lost.
#[tokio::test]
async fn a_session_that_was_gone_before_has_no_environment() {
    let world = World::new().await;
    let _recorder = Recorder::start(&world, "rec").await;
    world.let_in("laptop").await;
    let body = json!({ "agent": "mock", "environment": { "clientId": "laptop" } });
    world.ok(Method::POST, "/api/runtimes/rec/v1/sessions/gone", Some(body)).await;
    assert_eq!(environments(&world).await.len(), 1);
    let delete = world.request(Method::DELETE, "/api/runtimes/rec/v1/sessions/gone");
    assert_eq!(world.answer(delete).await.0, 404);
    assert_eq!(environments(&world).await.len(), 0);
}
