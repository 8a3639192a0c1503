//! What a user may do with a worker, as the hub says, against what it does.

use super::*;
use crate::cli::mirrored::Recorder;

/// A session, as a runtime says it to everything.
fn session() -> String {
    let session = json!({
        "id": "s", "agent": "mock", "agentSessionId": null, "title": null, "agentMode": "build", "permissionMode": "default",
        "model": null, "variant": null, "directory": "/srv/app", "state": "idle", "turnId": null, "queuedInputs": 0,
        "openWaits": 0, "usage": {}, "error": null, "newestSeq": 3,
        "capabilities": { "acp": true, "permissions": true, "questions": true, "plans": true, "steering": true,
            "resume": true, "fork": false },
        "createdAt": "1970-01-01T00:00:00Z", "updatedAt": "1970-01-01T00:00:00Z",
    });
    let session = session.to_string();
    let length = session.len();
    format!(
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{session}"
    )
}

/// Each request that is said to be allowed reaches the runtime or is answered; each other one is refused for the same reason.
async fn check(hub: &TestHub, token: &str) -> Vec<(String, String, bool)> {
    let person = Person::new(hub, "somebody", token);
    let worker = person.get("/api/runtimes/box/workers/s").await;
    assert_eq!(worker["session"]["id"], "s");
    let mut seen = Vec::new();
    for action in worker["actions"].as_array().unwrap() {
        let text = |name: &str| action[name].as_str().unwrap().to_owned();
        let allowed = action["allowed"].as_bool().unwrap();
        let path = text("path").replace(['{', '}'], "");
        let request = hub.request_as(token, text("method").parse().unwrap(), &path);
        let (status, problem) = answer(request).await;
        assert_eq!(status == 403, !allowed, "{action}: {status} {problem}");
        assert_eq!(action.get("reason"), problem.get("detail").filter(|_| !allowed), "{action}");
        seen.push((text("method"), text("path"), allowed));
    }
    seen
}

/// observation-68, observation-78: a page learns what it may offer: the hub says for each request about a worker whether it would accept it,
/// and does what it says, for each role and for a token with a scope.
#[tokio::test]
async fn the_hub_says_what_a_caller_may_do() {
    let runtime = Recorder::start(Box::leak(session().into_boxed_str()));
    let hub = TestHub::start(TOMBOLO);
    hub.add_runtime("box", &runtime.endpoint(), Some(TOKEN)).await;
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json"));
    let document: Value = serde_json::from_str(&document.unwrap()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let of_sessions = paths.iter().filter(|(path, _)| path.starts_with("/v1/sessions/{id}"));
    let requests: usize = of_sessions.map(|(_, methods)| methods.as_object().unwrap().len()).sum();
    let mut allowed_of = Vec::new();
    for role in ["viewer", "controller", "owner"] {
        let token = somebody(&hub, &format!("a-{role}"), json!({ "roles": { "default": role } })).await;
        let seen = check(&hub, &token).await;
        assert_eq!(seen.len(), requests + 3, "every request about a session: {seen:?}");
        allowed_of.push(seen.iter().filter(|(.., allowed)| *allowed).count());
    }
    assert!(allowed_of.is_sorted() && allowed_of[0] < allowed_of[1] && allowed_of[1] < allowed_of[2]);
    assert_eq!(allowed_of[2], requests + 3);
    let shown = crate::relay::typed(&hub, &["hub", "workers", "get", "box", "s"]);
    assert!(
        shown.contains("POST /api/runtimes/box/v1/sessions/s/messages") && shown.contains("sessions.send"),
        "{shown}"
    );
    let scoped = json!({ "name": "scoped", "scope": { "role": "viewer" } });
    let (_, scoped) = token(&hub, scoped).await;
    let seen = check(&hub, &scoped).await;
    assert_eq!(seen.iter().filter(|(.., allowed)| *allowed).count(), allowed_of[0]);
}

/// observation-68, observation-78: a request whose response a policy cannot redact is not offered.
#[tokio::test]
async fn a_policy_withdraws_what_it_refuses() {
    let files = tempfile::tempdir().unwrap();
    let file = files.path().join("policy.json");
    std::fs::write(&file, json!({ "redact": { "viewer": { "thinking": true } } }).to_string()).unwrap();
    let runtime = Recorder::start(Box::leak(session().into_boxed_str()));
    let hub = TestHub::start_with(TOMBOLO, &["--policy", file.to_str().unwrap()]);
    hub.add_runtime("box", &runtime.endpoint(), Some(TOKEN)).await;
    let viewer = somebody(&hub, "bob", json!({ "roles": { "default": "viewer" } })).await;
    let worker = Person::new(&hub, "bob", &viewer).get("/api/runtimes/box/workers/s").await;
    let action = |path: &str| {
        let actions = worker["actions"].as_array().unwrap().iter();
        let mut found = actions.filter(|action| action["path"] == format!("/api/runtimes/box/{path}"));
        found.find(|action| action["method"] == "GET").unwrap().clone()
    };
    assert_eq!(action("v1/sessions/s/events")["allowed"], true);
    assert_eq!(action("workers/s/events/ws")["allowed"], true);
    let refused = action("v1/sessions/s/events/sse");
    assert_eq!(refused["allowed"], false);
    let (status, problem) =
        answer(hub.request_as(&viewer, Method::GET, refused["path"].as_str().unwrap())).await;
    assert_eq!((status, &problem["detail"]), (403, &refused["reason"]));
}
