//! A malformed id in a path is a bad request on every route, of the daemon, of the hub, and of a daemon behind a hub.

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{TestDaemon, TestHub};

use crate::TOMBOLO;

/// No id contains a space or this sign.
const MALFORMED: &str = "not%20an%20id%21";

/// A code of a pairing is a secret that a person types, and no id: whatever is not one is answered like an unknown one.
const NO_IDS: [&str; 1] = ["code"];

/// A well-formed id for a parameter.
fn well_formed(name: &str, schema: &Value) -> String {
    let pattern = schema["pattern"].as_str().unwrap_or_default();
    match pattern.strip_prefix('^').and_then(|rest| rest.split_once("_[0-9a-f]{32}")) {
        Some((prefix, _)) => format!("{prefix}_{}", "0".repeat(32)),
        None if name == "agent" => "mock".into(),
        None => "x".into(),
    }
}

/// Every route of a document with each of its ids malformed in turn.
fn requests(document: &str) -> Vec<(Method, String)> {
    let document: Value = serde_json::from_str(document).unwrap();
    let mut requests = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let ids: Vec<_> = parameters.iter().filter(|parameter| parameter["in"] == "path").collect();
            for malformed in ids.iter().filter(|id| !NO_IDS.contains(&id["name"].as_str().unwrap())) {
                let filled = ids.iter().fold(path.clone(), |path, id| {
                    let name = id["name"].as_str().unwrap();
                    let value = match id == malformed {
                        true => MALFORMED.into(),
                        false => well_formed(name, &id["schema"]),
                    };
                    path.replace(&format!("{{{name}}}"), &value)
                });
                requests.push((method.to_uppercase().parse().unwrap(), filled));
            }
        }
    }
    requests
}

/// The answer to a request that is right but for the id; `None` if it is as it should be.
async fn deviation(request: reqwest::RequestBuilder, described: String) -> Option<String> {
    let upgrade = [
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    let is_socket = described.ends_with("/ws") || described.ends_with("/terminal");
    let request = match is_socket {
        true => upgrade.iter().fold(request, |request, (name, value)| request.header(*name, *value)),
        false => request,
    };
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let problem: Value = response.json().await.unwrap_or_default();
    let is_right = (status, &problem["type"]) == (400, &json!("urn:problem:invalid-request"));
    (!is_right).then(|| format!("{described}: {status} {problem}"))
}

#[tokio::test]
async fn a_malformed_id_is_a_bad_request_everywhere() {
    let daemon = TestDaemon::start(TOMBOLO);
    let hub = TestHub::start(TOMBOLO);
    hub.add_runtime("x", daemon.base(), None).await;
    let of_daemon = requests(include_str!("../../../../docs/openapi.json"));
    let of_hub = requests(include_str!("../../../../docs/openapi-hub.json"));
    assert!(of_daemon.len() > 35 && of_hub.len() > 25, "{} {}", of_daemon.len(), of_hub.len());
    let mut deviations = Vec::new();
    let with_body = |method: &Method, request: reqwest::RequestBuilder| match *method == Method::GET {
        true => request,
        false => request.json(&json!({})),
    };
    for (method, path) in &of_daemon {
        let direct = with_body(method, daemon.request(method.clone(), path));
        deviations.extend(deviation(direct, format!("daemon: {method} {path}")).await);
        // The hub has another route for watching workers.
        if !path.starts_with("/v1/workers/") {
            let forwarded = hub.request(method.clone(), &format!("/api/runtimes/x{path}"));
            deviations.extend(deviation(with_body(method, forwarded), format!("hub: {method} {path}")).await);
        }
    }
    for (method, path) in &of_hub {
        // These routes take the secret of an environment, and no user's token.
        let is_secret = ["/connect", "/requests", "/mcp"].iter().any(|end| path.ends_with(end));
        if path.starts_with("/api/v1/relay/environments/") && is_secret {
            continue;
        }
        let request = with_body(method, hub.request(method.clone(), path));
        deviations.extend(deviation(request, format!("hub: {method} {path}")).await);
    }
    assert_eq!(deviations, Vec::<String>::new());
}
