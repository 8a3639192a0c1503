//! Where a runtime keeps its files, as each role sees it.

use std::fs;

use super::*;

/// A daemon with two sessions, in the directories `lab/app` and `elsewhere` of its home, behind a hub with this policy.
async fn with_sessions(policy: impl Fn(&str) -> Value) -> (tempfile::TempDir, TestDaemon, TestHub) {
    let daemon = TestDaemonOptions::default().env("TOMBOLO_TOKEN", TOKEN).start(TOMBOLO);
    let files = tempfile::tempdir().unwrap();
    let file = files.path().join("policy.json");
    fs::write(&file, policy(daemon.home().to_str().unwrap()).to_string()).unwrap();
    let hub = TestHub::start_with(TOMBOLO, &["--policy", file.to_str().unwrap()]);
    hub.add_runtime("box", daemon.base(), Some(TOKEN)).await;
    for (id, directory) in [("below", "lab/app"), ("beside", "elsewhere")] {
        let directory = daemon.home().join(directory);
        fs::create_dir_all(&directory).unwrap();
        let create = json!({ "agent": "mock", "directory": directory });
        ask(&daemon, Method::POST, &format!("/v1/sessions/{id}"), Some(create)).await;
    }
    (files, daemon, hub)
}

/// Everything that describes the session, as its directory: lists, the session, its snapshots, and the stream.
async fn directories(hub: &TestHub, token: &str, id: &str) -> Vec<Value> {
    let person = Person::new(hub, "somebody", token);
    let of_list = |list: Value| {
        let sessions = list["items"].as_array().unwrap().clone();
        sessions.into_iter().find(|session| session["id"] == id).unwrap()["directory"].clone()
    };
    let mut seen = vec![
        of_list(person.get("/api/runtimes/box/workers").await),
        of_list(person.get("/api/runtimes/box/v1/sessions").await),
        person.get(&format!("/api/runtimes/box/workers/{id}")).await["session"]["directory"].clone(),
        person.get(&format!("/api/runtimes/box/v1/sessions/{id}")).await["directory"].clone(),
    ];
    let snapshot = person.get(&format!("/api/runtimes/box/v1/sessions/{id}/snapshot")).await;
    seen.push(snapshot["session"]["directory"].clone());
    let mut viewer = Viewer::try_as(hub, token, id).await.unwrap();
    let envelope = viewer.until("event").await;
    seen.push(envelope["payload"]["snapshot"]["session"]["directory"].clone());
    seen
}

async fn role(hub: &TestHub, role: &str) -> String {
    somebody(hub, &format!("a-{role}"), json!({ "roles": { "default": role } })).await
}

/// observation-5, observation-18, observation-79: who is no owner sees the directory of a session relative to a root, or only its name, wherever a
/// session is described.
#[tokio::test]
async fn only_owners_see_absolute_directories() {
    let (_files, daemon, hub) = with_sessions(
        |home| json!({ "controllers": { "default": { "directories": [format!("{home}/lab")] } } }),
    )
    .await;
    for (name, below, beside) in [
        ("viewer", json!("app"), json!("elsewhere")),
        ("controller", json!("app"), json!("elsewhere")),
        ("owner", json!(daemon.home().join("lab/app")), json!(daemon.home().join("elsewhere"))),
    ] {
        let token = role(&hub, name).await;
        assert_eq!(directories(&hub, &token, "below").await, vec![below; 6], "{name}");
        assert_eq!(directories(&hub, &token, "beside").await, vec![beside; 6], "{name}");
    }
}

/// observation-79: a policy may show absolute directories to a role, and hide them from owners.
#[tokio::test]
async fn a_policy_decides_about_directories() {
    let redact =
        json!({ "viewer": { "directories": false }, "owner": { "directories": true, "thinking": true } });
    let (_files, daemon, hub) = with_sessions(|_| json!({ "redact": redact })).await;
    let (viewer, owner) = (role(&hub, "viewer").await, role(&hub, "owner").await);
    let absolute = json!(daemon.home().join("lab/app"));
    assert_eq!(directories(&hub, &viewer, "below").await, vec![absolute; 6]);
    assert_eq!(directories(&hub, &owner, "below").await, vec![json!("app"); 6]);
}

/// observation-18, observation-79: the original messages of agents name local paths, so only those who see such paths get them. Everything else of
/// the events passes unchanged.
#[tokio::test]
async fn original_messages_are_for_those_who_see_directories() {
    let (daemon, hub) = both().await;
    create(&daemon, "s").await;
    let mut watching = Viewer::new(&hub, "s", None).await;
    watching.until("control").await;
    send(&daemon, "s", "hello").await;
    watching.until_event("turnEnded").await;
    let viewer = role(&hub, "viewer").await;
    let query = "includeRaw=true&offset=0&limit=1000";
    let path = format!("/api/runtimes/box/v1/sessions/s/events?{query}");
    let (whole, shown) =
        (Person::owner(&hub).get(&path).await, Person::new(&hub, "a-viewer", &viewer).get(&path).await);
    let is_raw = |event: &Value| event.get("raw").is_some();
    let events_of = |page: &Value| page["events"].as_array().unwrap().clone();
    let (mut whole, mut shown) = (events_of(&whole), events_of(&shown));
    assert!(whole.iter().any(is_raw));
    assert!(!shown.iter().any(is_raw));
    for event in &mut whole {
        event.as_object_mut().unwrap().remove("raw");
    }
    // The second page may have a newer event.
    shown.truncate(whole.len());
    assert_eq!(shown, whole);
    // The stream of a viewer is not refused, and holds none either.
    let path = "/api/runtimes/box/v1/sessions/s/events/sse?include%52aw=true";
    let response = hub.request_as(&viewer, Method::GET, path).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let mut stream = EventStream::new(response);
    loop {
        let event = within(secs(20), stream.next()).await.unwrap();
        assert!(!event.data.contains("\"raw\""), "{}", event.data);
        if event.data.contains("turnEnded") {
            break;
        }
    }
}

/// observation-79: a stream that was opened with the right to see everything ends when its caller loses that right; one of a lesser
/// role goes on.
#[tokio::test]
async fn a_lesser_role_ends_a_stream_that_shows_more() {
    let (daemon, hub) = both().await;
    create(&daemon, "s").await;
    let mut streams = Vec::new();
    for name in ["owner", "controller"] {
        let token = role(&hub, name).await;
        let path = "/api/runtimes/box/v1/sessions/s/events/sse?includeRaw=true";
        let mut stream = EventStream::new(hub.request_as(&token, Method::GET, path).send().await.unwrap());
        within(secs(20), stream.next()).await.unwrap();
        streams.push(stream);
    }
    let [owners, controllers] = &mut streams[..] else { unreachable!() };
    for name in ["owner", "controller"] {
        let lesser = json!({ "roles": { "default": "viewer" } });
        let set = hub.request(Method::PUT, &format!("/api/users/a-{name}")).json(&lesser);
        assert_eq!(answer(set).await.0, 200);
    }
    within(secs(20), async { while owners.next().await.is_some() {} }).await;
    send(&daemon, "s", "hello").await;
    let goes_on = async { while !controllers.next().await.unwrap().data.contains("turnEnded") {} };
    within(secs(20), goes_on).await;
}
