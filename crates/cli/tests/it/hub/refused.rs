//! What the hub does not do.

use tokio_tungstenite::tungstenite::{self, Message};

use super::*;
use crate::{check_problem, problem};

/// How the request for a WebSocket was answered.
pub(super) async fn status(refused: Result<Viewer, tungstenite::Error>) -> u16 {
    match refused.map(drop).unwrap_err() {
        tungstenite::Error::Http(response) => response.status().as_u16(),
        other => panic!("{other}"),
    }
}

/// observation-49: nobody comes in without a token of the hub; that of a daemon is none.
#[tokio::test]
async fn nobody_comes_in_without_a_token() {
    let (_daemon, hub) = both().await;
    let http = reqwest::Client::new();
    for path in [
        "/api/runtimes",
        "/api/runtimes/box",
        "/api/runtimes/box/workers",
        "/api/runtimes/box/workers/s/events/ws",
    ] {
        for token in [None, Some(TOKEN), Some("")] {
            let mut request = http.get(format!("{}{path}", hub.base()));
            if let Some(token) = token {
                request = request.bearer_auth(token);
            }
            check_problem(&problem(request.send().await.unwrap()).await, 401, "urn:problem:unauthorized");
        }
    }
    assert_eq!(http.get(format!("{}/api/health", hub.base())).send().await.unwrap().status(), 200);
    // Only its digest is kept, and it is not shown again.
    let files = std::fs::read_to_string(hub.directory().join("people.json")).unwrap();
    assert!(!files.contains(hub.token()), "{files}");
}

/// observation-49: a page of another origin is not let in, whoever it is.
#[tokio::test]
async fn pages_of_other_origins_are_not_let_in() {
    let (_daemon, hub) = both().await;
    for (name, value) in [("origin", "https://evil.example"), ("host", "evil.example")] {
        let response = hub.request(Method::GET, "/api/runtimes").header(name, value).send().await.unwrap();
        check_problem(&problem(response).await, 403, "urn:problem:host-not-allowed");
    }
}

/// observation-29, observation-46: what is not there is told before there is a WebSocket; names lead nowhere else.
#[tokio::test]
async fn names_lead_nowhere_else() {
    let (daemon, hub) = both().await;
    create(&daemon, "s").await;
    assert_eq!(status(Viewer::try_new(&hub, "none", None).await).await, 404);
    for worker in ["..%2f..%2fsessions", "@evil.example", "s%2f..%2fs", "%00", ".."] {
        let refused = status(Viewer::try_new(&hub, worker, None).await).await;
        assert!(matches!(refused, 400 | 404), "{worker}: {refused}");
    }
    for runtime in ["none", "..%2fbox", "@evil.example", "box%2fworkers"] {
        let path = format!("/api/runtimes/{runtime}/workers");
        let refused = hub.request(Method::GET, &path).send().await.unwrap().status().as_u16();
        assert!(matches!(refused, 400 | 404), "{runtime}: {refused}");
    }
    let plain = hub.request(Method::GET, "/api/runtimes/box/workers/s/events/ws").send().await.unwrap();
    check_problem(&problem(plain).await, 426, "urn:problem:upgrade-required");
}

/// observation-45, observation-66: whoever says something is told that they can only listen.
#[tokio::test]
async fn nothing_can_be_said() {
    let (daemon, hub) = both().await;
    create(&daemon, "s").await;
    for message in [Message::text("{}"), Message::binary(vec![1])] {
        let mut viewer = Viewer::new(&hub, "s", None).await;
        viewer.until("control").await;
        viewer.say(message).await;
        let (last, ended) = viewer.end().await;
        assert_eq!(last["diagnostic"]["code"], "backend.observation_only");
        let close = ended.unwrap();
        assert_eq!((u16::from(close.code), close.reason.as_str()), (1008, "backend.observation_only"));
    }
    // observation-3: commands use HTTP.
    let sent = hub.request(Method::POST, "/api/runtimes/box/v1/sessions/s/messages");
    assert_eq!(sent.json(&json!({ "message": "hello" })).send().await.unwrap().status(), 202);
}

/// observation-55, observation-59, observation-63: a cursor that is no good is told, each in its own way.
#[tokio::test]
async fn a_cursor_that_is_no_good_is_told() {
    let (daemon, hub) = both().await;
    create(&daemon, "s").await;
    create(&daemon, "other").await;
    let theirs =
        Viewer::new(&hub, "other", None).await.until("event").await["cursor"].as_str().unwrap().to_owned();
    for (cursor, code) in [("nonsense", "cursor_malformed"), (&*theirs, "cursor_unknown")] {
        let (last, ended) = Viewer::new(&hub, "s", Some(cursor)).await.end().await;
        assert_eq!(last["diagnostic"]["code"], format!("backend.{code}"));
        assert_eq!(u16::from(ended.unwrap().code), 1008);
    }
}

/// A runtime that cannot be used is not registered, and a name is taken once.
#[tokio::test]
async fn what_cannot_be_registered_is_told() {
    let (daemon, hub) = both().await;
    for (body, status, kind) in [
        (json!({ "id": "box", "endpoint": daemon.base() }), 409, "urn:problem:runtime-taken"),
        (json!({ "id": "new", "endpoint": "not a url" }), 400, "urn:problem:invalid-request"),
        (json!({ "id": "new", "endpoint": "http://u:p@h" }), 400, "urn:problem:invalid-request"),
        (json!({ "id": "../new", "endpoint": daemon.base() }), 400, "urn:problem:invalid-request"),
        (
            json!({ "id": "new", "endpoint": daemon.base(), "token": "with a space" }),
            400,
            "urn:problem:invalid-request",
        ),
    ] {
        let response = hub.request(Method::POST, "/api/runtimes").json(&body).send().await.unwrap();
        check_problem(&problem(response).await, status, kind);
    }
    let list: Value = hub.request(Method::GET, "/api/runtimes").send().await.unwrap().json().await.unwrap();
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
}
