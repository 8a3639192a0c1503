//! Sessions themselves: made, found, listed, interrupted, deleted.

use super::*;
use crate::{check_problem, problem};

/// sessions-1: "`POST /v1/sessions/{id}` … → `{healthy, error?}` … Same id again: same parameters → idempotent 200,
/// other parameters → 409".
#[tokio::test]
async fn a_session_is_created_once() {
    let daemon = TestDaemon::start(TOMBOLO);
    let created = create(&daemon, "s").await;
    assert_eq!((&created["healthy"], &created["error"]), (&json!(true), &Value::Null));
    assert!(created["agentSessionId"].as_str().unwrap().starts_with("mock-"), "{created}");
    assert_eq!(create(&daemon, "s").await, created);
    let defaults = json!({ "agent": "mock", "agentMode": "build", "permissionMode": "default" });
    assert_eq!(create_with(&daemon, "s", &defaults).await, created);
    let other = daemon.post(&path("s", ""), &json!({ "agent": "mock", "model": "mock" })).await;
    check_problem(&problem(other).await, 409, "urn:problem:session-conflict");
    let session = get(&daemon, &path("s", "")).await;
    assert_eq!((&session["agentMode"], &session["permissionMode"]), (&json!("build"), &json!("default")));
    assert_eq!(session["directory"], daemon.home().display().to_string());
    assert_eq!(session["state"], "idle");
}

/// sessions-1: what cannot be a session is refused, with its reason.
#[tokio::test]
async fn what_cannot_be_a_session_is_refused() {
    let daemon = TestDaemon::start(TOMBOLO);
    for (body, kind) in [
        (json!({ "agent": "nobody" }), "unknown-agent"),
        (json!({}), "invalid-request"),
        (json!({ "agent": "mock", "directory": "relative" }), "invalid-request"),
        (json!({ "agent": "mock", "directory": "/not/there" }), "invalid-request"),
        (json!({ "agent": "mock", "env": { "A=B": "c" } }), "invalid-request"),
        (json!({ "agent": "mock", "permissionMode": "all" }), "invalid-request"),
        (json!({ "agent": "mock", "other": 1 }), "invalid-request"),
    ] {
        let refused = problem(daemon.post(&path("s", ""), &body).await).await;
        check_problem(&refused, 400, &format!("urn:problem:{kind}"));
    }
    assert_eq!(daemon.get(&path("s", "")).await.status(), 404);
    let refused = problem(daemon.post(&path("a%20b", ""), &json!({ "agent": "mock" })).await).await;
    check_problem(&refused, 400, "urn:problem:invalid-request");
}

/// sessions-2: "`agentMode` is behaviour, `permissionMode` is restriction; they are separate; … `bypass` = no checks."
#[tokio::test]
async fn behaviour_and_restriction_are_separate() {
    let daemon = TestDaemon::start(TOMBOLO);
    let free = json!({ "agent": "mock", "agentMode": "plan", "permissionMode": "bypass", "model": "mock" });
    assert_eq!(create_with(&daemon, "free", &free).await["healthy"], true);
    let records = turn(&daemon, "free", "/permission").await;
    assert_eq!((of(&records, "permissionAsked").len(), ended(&records)), (0, "completed"));
    assert_eq!(said(&records), "permission answered: allow");
    let session = get(&daemon, &path("free", "")).await;
    assert_eq!((&session["agentMode"], &session["permissionMode"]), (&json!("plan"), &json!("bypass")));
    let restricted = json!({ "agent": "mock", "permissionMode": "plan" });
    assert_eq!(create_with(&daemon, "restricted", &restricted).await["healthy"], true);
    let session = get(&daemon, &path("restricted", "")).await;
    assert_eq!((&session["agentMode"], &session["permissionMode"]), (&json!("build"), &json!("plan")));
}

/// sessions-6: "`GET /v1/sessions`, `GET /v1/sessions/{id}`".
#[tokio::test]
async fn sessions_are_listed_with_the_last_one_first() {
    let daemon = TestDaemon::start(TOMBOLO);
    assert_eq!(get(&daemon, "/v1/sessions").await, json!({ "items": [], "nextCursor": null }));
    for id in ["a", "b"] {
        create(&daemon, id).await;
    }
    turn(&daemon, "a", "hello").await;
    let list = get(&daemon, "/v1/sessions").await;
    let ids: Vec<_> = list["items"].as_array().unwrap().iter().map(|session| &session["id"]).collect();
    assert_eq!(ids, ["a", "b"]);
    assert_eq!(list["items"][0], get(&daemon, &path("a", "")).await);
    let missing = problem(daemon.get(&path("c", "")).await).await;
    check_problem(&missing, 404, "urn:problem:session-not-found");
}

/// sessions-6: "`POST …/cancel` (interrupt the turn)".
#[tokio::test]
async fn a_turn_is_interrupted() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let mut followed = Followed::new(&daemon, "s", 0).await;
    send(&daemon, "s", "/hang").await;
    followed.until("turnStarted").await;
    assert_eq!(daemon.post_text(&path("s", "/cancel"), "").await.status(), 204);
    assert_eq!(followed.next_of("turnEnded").await["reason"], "interrupted");
    // With nothing to interrupt, nothing happens.
    assert_eq!(daemon.post_text(&path("s", "/cancel"), "").await.status(), 204);
    assert_eq!(ended(&turn(&daemon, "s", "hello").await), "completed");
}

/// sessions-6: "`DELETE` (terminate)". Whoever follows is told, and nothing is left.
#[tokio::test]
async fn a_deleted_session_is_gone() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let mut followed = Followed::new(&daemon, "s", 0).await;
    send(&daemon, "s", "/hang").await;
    followed.until("turnStarted").await;
    assert_eq!(daemon.delete(&path("s", "")).await.status(), 204);
    let rest = followed.until("ended").await;
    assert_eq!(
        (ended(&rest), &rest.last().unwrap()["event"]["ended"]["reason"]),
        ("interrupted", &json!("deleted"))
    );
    assert_eq!(followed.next().await, None);
    assert_eq!(daemon.get(&path("s", "")).await.status(), 404);
    assert_eq!(daemon.delete(&path("s", "")).await.status(), 204);
    create_with(&daemon, "s", &json!({ "agent": "mock", "title": "another" })).await;
    assert!(said(&all(&daemon, "s").await).is_empty());
}

/// sessions-6: "`GET …/messages` (the transcript folded from events)".
#[tokio::test]
async fn the_transcript_is_what_the_events_come_to() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    for message in ["hello\n/think hm\n/tool", "/edit", "bye"] {
        turn(&daemon, "s", message).await;
    }
    let mut transcript = protocol::Transcript::default();
    for record in all(&daemon, "s").await {
        transcript.apply(&serde_json::from_value(record).unwrap());
    }
    let whole = get(&daemon, &path("s", "/messages")).await;
    assert_eq!(whole["items"], json!(transcript.messages()));
    for message in whole["items"].as_array().unwrap() {
        assert!(message["createdAt"].is_string() && message["updatedAt"].is_string(), "{message}");
    }
    assert_eq!((whole["seq"].as_u64(), &whole["nextCursor"]), (Some(transcript.seq()), &Value::Null));
    let first = get(&daemon, &path("s", "/messages?limit=2")).await;
    let next = first["nextCursor"].as_str().unwrap();
    let rest = get(&daemon, &path("s", &format!("/messages?cursor={next}"))).await;
    let pages = [first["items"].as_array().unwrap().clone(), rest["items"].as_array().unwrap().clone()];
    assert_eq!(json!(pages.concat()), whole["items"]);
    for query in ["?cursor=x", "?limit=0", "?limit=201", "?other=1"] {
        let refused = problem(daemon.get(&path("s", &format!("/messages{query}"))).await).await;
        check_problem(&refused, 400, "urn:problem:invalid-request");
    }
}

/// Issue 4, 7: "what `/v1/config/mcp` … hold[s] for the session's directory is given to the agent".
#[tokio::test]
async fn the_servers_of_a_directory_are_given_to_the_agent() {
    let daemon = TestDaemon::start(TOMBOLO);
    let directory = daemon.home().display().to_string();
    let server = |enabled: bool| json!({ "type": "local", "command": "true", "enabled": enabled });
    for (name, enabled) in [("files", true), ("off", false)] {
        let entry = format!("/v1/config/mcp?directory={directory}&mcpName={name}");
        assert_eq!(daemon.put(&entry, &server(enabled)).await.status(), 204);
    }
    let own = json!({ "agent": "mock", "directory": directory, "mcp": { "own": server(true) } });
    create_with(&daemon, "s", &own).await;
    assert_eq!(said(&turn(&daemon, "s", "/servers").await), "servers: files, own");
    create_with(&daemon, "elsewhere", &json!({ "agent": "mock", "directory": "/" })).await;
    assert_eq!(said(&turn(&daemon, "elsewhere", "/servers").await), "servers: ");
}
