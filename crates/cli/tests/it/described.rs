//! What a server answers is what its document says: whatever is required is there, and everything is of its type.

use std::{collections::BTreeMap, time::Duration};

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use testkit::{TestDaemon, TestHub, within};

use crate::{
    TOMBOLO,
    relay::{Device, typed},
    secs,
};

/// What is to be answered with JSON to whoever reads, by the path: its schema, with all that it refers to.
fn answers(mut document: Value) -> BTreeMap<String, Value> {
    close(&mut document);
    let read = |(path, methods): (&String, &Value)| {
        let content = &methods["get"]["responses"]["200"]["content"]["application/json"];
        let mut schema = content.get("schema")?.clone();
        schema["components"] = document["components"].clone();
        Some((path.clone(), schema))
    };
    document["paths"].as_object().unwrap().iter().filter_map(read).collect()
}

/// Leaves out what a newer server may say: nothing that is said today is to be taken for it.
fn close(part: &mut Value) {
    if let Some(choices) = part.get_mut("anyOf").and_then(Value::as_array_mut) {
        choices.retain(|choice| choice["additionalProperties"] != true || choice.get("properties").is_some());
    }
    match part {
        Value::Object(members) => members.values_mut().for_each(close),
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// What is answered, which must be what the schema says.
async fn check(request: RequestBuilder, path: &str, schema: &Value) -> Value {
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), 200, "{path}");
    let answer: Value = response.json().await.unwrap();
    let validator = jsonschema::validator_for(schema).unwrap();
    let wrong: Vec<_> = validator.iter_errors(&answer).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{path}: {wrong:#?} in {answer:#}");
    answer
}

/// Asks for something that is to be made, or done.
async fn put(request: RequestBuilder, body: Value) -> Value {
    let response = request.json(&body).send().await.unwrap();
    assert!(response.status().is_success(), "{}", response.text().await.unwrap());
    response.json().await.unwrap_or_default()
}

/// Waits until this is true of what is answered.
async fn until(request: impl Fn() -> RequestBuilder, is_there: impl Fn(&Value) -> bool) {
    // Not faster than one token may ask.
    let mut pace = tokio::time::interval(Duration::from_millis(20));
    let seen = async {
        while !is_there(&request().send().await.unwrap().json().await.unwrap()) {
            pace.tick().await;
        }
    };
    within(secs(30), seen).await;
}

/// Waits until a wait is in the list, and returns its id.
async fn wait_id(list: impl Fn() -> RequestBuilder) -> String {
    until(&list, |waits| waits["items"] != json!([])).await;
    let waits: Value = list().send().await.unwrap().json().await.unwrap();
    waits["items"][0]["wait"]["id"].as_str().or(waits["items"][0]["id"].as_str()).unwrap().to_owned()
}

/// daemon-1: the document is true of every route that is read, where there is something of everything.
#[tokio::test]
async fn a_daemon_answers_as_its_document_says() {
    let daemon = TestDaemon::start(TOMBOLO);
    let post = |path: &str| daemon.request(Method::POST, path);
    let get = |path: &str| daemon.request(Method::GET, path);
    put(post("/v1/sessions/s"), json!({ "agent": "mock", "title": "A title" })).await;
    for message in ["/tool", "/plan", "/fail"] {
        put(post("/v1/sessions/s/messages"), json!({ "message": message })).await;
    }
    put(post("/v1/sessions/s/messages"), json!({ "message": "/permission" })).await;
    let wait = wait_id(|| get("/v1/waits")).await;
    let attached = json!({ "message": "next", "attachments": [{ "type": "text", "text": "attached" }] });
    put(post("/v1/sessions/s/messages"), attached).await;
    put(daemon.request(Method::PUT, "/v1/acp/a"), json!({ "agent": "mock", "lingerMs": 60_000 })).await;
    let start = json!({ "command": "sh", "args": ["-c", "echo out; exit 3"] });
    let process = put(post("/v1/processes"), start).await["id"].as_str().unwrap().to_owned();
    put(post(&format!("/v1/processes/{process}/wait")), json!({})).await;
    let server = json!({ "type": "local", "command": "server" });
    put(daemon.request(Method::PUT, "/v1/config/mcp?directory=/&mcpName=one"), server).await;
    let skill = json!({ "sources": [{ "type": "git", "source": "x" }] });
    put(daemon.request(Method::PUT, "/v1/config/skills?directory=/&skillName=one"), skill).await;
    std::fs::write(daemon.home().join("file"), "content").unwrap();

    let answers = answers(::daemon::generate_openapi());
    assert!(answers.len() > 15, "{:?}", answers.keys());
    for (path, schema) in &answers {
        let query = match path.as_str() {
            "/v1/config/mcp" | "/v1/config/skills" => "?directory=/",
            "/v1/fs/entries" | "/v1/fs/stat" => "?path=.",
            "/v1/search" => "?query=title",
            _ => "",
        };
        let asked = path.replace("sessions/{id}", "sessions/s").replace("{id}", &process);
        let asked = asked.replace("{wait_id}", &wait);
        let asked = format!("{}{query}", asked.replace("{agent}", "mock"));
        let answer = check(get(&asked), path, schema).await;
        assert_ne!(answer["items"], json!([]), "{path}");
    }
}

/// issue 17, 3: a hub serves its document as it is committed, and the CLI prints it.
#[tokio::test]
async fn a_hub_serves_its_document() {
    let hub = TestHub::start(TOMBOLO);
    let committed: Value = serde_json::from_str(include_str!("../../../../docs/openapi-hub.json")).unwrap();
    let served: Value =
        hub.request(Method::GET, "/api/openapi.json").send().await.unwrap().json().await.unwrap();
    assert!(served == committed, "docs/openapi-hub.json is out of date: run `cargo xtask codegen`");
    let printed: Value = serde_json::from_str(&typed(&hub, &["hub", "info", "openapi"])).unwrap();
    assert!(printed == committed);
}

/// The same of a hub, with a device that is lent.
#[tokio::test]
async fn a_hub_answers_as_its_document_says() {
    let (daemon, hub) = (TestDaemon::start(TOMBOLO), TestHub::start(TOMBOLO));
    hub.add_runtime("box", daemon.base(), None).await;
    let post = |path: &str| hub.request(Method::POST, path);
    let get = |path: &str| hub.request(Method::GET, path);
    put(post("/api/runtimes/box/v1/sessions/s"), json!({ "agent": "mock" })).await;
    put(post("/api/runtimes/box/v1/sessions/s/messages"), json!({ "message": "/permission" })).await;
    let wait = wait_id(|| get("/api/waits")).await;
    put(post("/api/users"), json!({ "name": "ana", "roles": { "default": "viewer" } })).await;
    put(post("/api/tokens"), json!({ "name": "less", "scope": { "role": "viewer" } })).await;
    let token = typed(&hub, &["hub", "devices", "add", "laptop", "--label", "A laptop"]);
    typed(&hub, &["hub", "grants", "add", "laptop", "--runtime", "box", "--root", "main:rw"]);
    let _device = Device::connect_with(&hub, token.trim(), &[]);
    until(|| get("/api/devices/laptop"), |device| !device["connection"].is_null()).await;
    let add = json!({ "runtimeId": "box", "clientId": "laptop", "sessionId": "s" });
    let added = put(post("/api/v1/relay/environments"), add).await;
    let environment = added["environment"]["id"].as_str().unwrap();
    let door = format!("/api/v1/relay/environments/{environment}/requests");
    let read = json!({ "method": "file.read", "params": { "root_id": "main", "path": "a.txt" } });
    put(hub.request_as(added["secret"].as_str().unwrap(), Method::POST, &door), read).await;
    // What only reads is written down a little later.
    until(|| get("/api/v1/relay/audit"), |audit| audit["items"] != json!([])).await;
    let begun = put(post("/api/devices/pairings"), json!({ "clientId": "phone" })).await;

    let answers = answers(::hub::generate_openapi());
    assert!(answers.len() > 15, "{:?}", answers.keys());
    for (path, schema) in &answers {
        let asked = path.replace("{runtime_id}", "box").replace("{worker_id}", "s").replace("{user}", "ana");
        let asked = asked.replace("{client_id}", "laptop").replace("{environment_id}", environment);
        let asked = asked.replace("{code}", begun["code"].as_str().unwrap()).replace("{wait_id}", &wait);
        let answer = check(get(&asked), path, schema).await;
        assert_ne!(answer["items"], json!([]), "{path}");
    }
}
