//! How the two streams of a worker, from its runtime and from the hub, differ and belong together.

use tokio_tungstenite::tungstenite;

use super::*;

/// How an upgrade was refused.
fn refused(result: Result<Viewer, tungstenite::Error>) -> u16 {
    match result {
        Err(tungstenite::Error::Http(response)) => response.status().as_u16(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it was not refused"),
    }
}

/// observation-4: a stream is addressed by a runtime and a worker, and by nothing else.
#[tokio::test]
async fn a_stream_has_no_other_address() {
    let (daemon, hub) = both().await;
    create(&daemon, "s").await;
    let endpoint = daemon.base().replace("://", "%3A%2F%2F");
    for query in [
        format!("endpoint={endpoint}"),
        format!("token={TOKEN}"),
        "path=%2Fv1%2Fworkers%2Fs".into(),
        "worker=other".into(),
        "runtime_id=other".into(),
    ] {
        let token = format!("Bearer {}", hub.token());
        let path = format!("s/events/ws?{query}");
        let result = Viewer::try_with(&hub, &path, &[("authorization", &token)]).await;
        assert_eq!(refused(result), 400, "{query}");
    }
    let document =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi-hub.json"));
    let document: Value = serde_json::from_str(&document.unwrap()).unwrap();
    let route = &document["paths"]["/api/runtimes/{runtime_id}/workers/{worker_id}/events/ws"]["get"];
    let mut parameters: Vec<_> =
        route["parameters"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    parameters.sort_unstable();
    assert_eq!(parameters, ["cursor", "runtime_id", "worker_id"]);
}

/// observation-15, observation-69: the runtime sends everything, and the hub decides what a viewer gets to see.
#[tokio::test]
async fn the_runtime_hides_nothing() {
    let files = tempfile::tempdir().unwrap();
    let file = files.path().join("policy.json");
    let rules = json!({ "redact": { "viewer": { "thinking": true, "toolOutput": true, "paths": ["/home/*/.ssh/**"] } } });
    std::fs::write(&file, rules.to_string()).unwrap();
    let daemon = TestDaemonOptions::default().env("TOMBOLO_TOKEN", TOKEN).start(TOMBOLO);
    let hub = TestHub::start_with(TOMBOLO, &["--policy", file.to_str().unwrap()]);
    hub.add_runtime("box", daemon.base(), Some(TOKEN)).await;
    create(&daemon, "s").await;
    let bob = somebody(&hub, "bob", json!({ "roles": { "default": "viewer" } })).await;
    let address = format!("{}/v1/workers/s/events/ws", daemon.base());
    let mut direct = Viewer::at(&address, TOKEN).await.unwrap();
    let mut shown = Viewer::try_as(&hub, &bob, "s").await.unwrap();
    for viewer in [&mut direct, &mut shown] {
        viewer.until("control").await;
    }
    send(&daemon, "s", "/think a secret thought\n/tool\nsee /home/joe/.ssh/id_rsa here").await;
    let whole = direct.until_event("turnEnded").await;
    let part = shown.until_event("turnEnded").await;
    assert_eq!(whole.len(), part.len());
    for secret in [r#""text":"a secret thought""#, "/home/joe/.ssh", "README.md"] {
        assert!(direct.received.contains(secret), "the runtime hides {secret}");
        assert!(!shown.received.contains(secret), "the hub shows {secret}");
    }
    let stored = events(&daemon, "s").await;
    let whole: Vec<_> = whole.into_iter().map(|envelope| envelope["payload"].clone()).collect();
    let end = stored.iter().position(|event| event.get("turnEnded").is_some()).unwrap();
    assert_eq!(whole, stored[end + 1 - whole.len()..=end]);
}

/// observation-30: within the hub an event belongs to a runtime and a worker: workers of the same name in two runtimes are two, and a
/// cursor of one is none of the other.
#[tokio::test]
async fn workers_of_one_name_in_two_runtimes_are_two() {
    let (near, hub) = both().await;
    let far = TestDaemonOptions::default().env("TOMBOLO_TOKEN", TOKEN).start(TOMBOLO);
    hub.add_runtime("far", far.base(), Some(TOKEN)).await;
    let mut cursors = Vec::new();
    let mut viewers = Vec::new();
    for (daemon, runtime) in [(&near, "box"), (&far, "far")] {
        create(daemon, "s").await;
        let address = format!("{}/api/runtimes/{runtime}/workers/s/events/ws", hub.base());
        let mut viewer = Viewer::at(&address, hub.token()).await.unwrap();
        let snapshot = viewer.until("event").await;
        assert_eq!((&snapshot["runtime_id"], &snapshot["worker_id"]), (&json!(runtime), &json!("s")));
        viewer.until("control").await;
        cursors.push(snapshot["cursor"].as_str().unwrap().to_owned());
        viewers.push((address, viewer));
    }
    send(&near, "s", "only near").await;
    send(&far, "s", "only far").await;
    for ((_, viewer), (runtime, theirs)) in
        viewers.iter_mut().zip([("box", "only far"), ("far", "only near")])
    {
        for envelope in viewer.until_event("turnEnded").await {
            assert_eq!(envelope["runtime_id"], runtime);
        }
        assert!(!viewer.received.contains(theirs), "{}", viewer.received);
    }
    for ((address, _), cursor) in viewers.iter().zip(cursors.iter().rev()) {
        let mut viewer = Viewer::at(&format!("{address}?cursor={cursor}"), hub.token()).await.unwrap();
        assert_eq!(viewer.end().await.0["diagnostic"]["code"], "backend.cursor_unknown");
    }
}
