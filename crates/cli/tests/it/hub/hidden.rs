//! What nobody gets to see.

use super::*;

/// observation-5, observation-37, observation-44: nothing that anybody receives tells where a runtime is, how it is spoken to, or where it keeps
/// its files: everything is recorded, and searched.
#[tokio::test]
async fn nothing_tells_where_a_runtime_is() {
    let (daemon, mut hub) = both().await;
    create(&daemon, "s").await;
    let elsewhere = "http://127.0.0.1:9/far/away";
    hub.add_runtime("down", elsewhere, Some("another-token")).await;
    let mut received = String::new();
    let bob = somebody(&hub, "bob", json!({ "roles": { "default": "viewer" } })).await;
    let mut viewer = Viewer::try_as(&hub, &bob, "s").await.unwrap();
    viewer.until("control").await;
    send(&daemon, "s", "/tool\nhello").await;
    let seen = viewer.until_event("turnEnded").await;
    for path in [
        "",
        "/box",
        "/down",
        "/none",
        "/box/workers",
        "/box/workers/s",
        "/down/workers",
        "/down/workers/s",
        "/box/workers/none/events/ws",
        "/box/v1/health",
        "/box/v1/agents",
        "/box/v1/sessions",
        "/box/v1/sessions/s",
        "/box/v1/sessions/s/snapshot",
        "/box/v1/sessions/s/messages",
        "/box/v1/sessions/s/events?includeRaw=true",
        "/box/v1/waits",
    ] {
        let request = hub.request_as(&bob, Method::GET, &format!("/api/runtimes{path}"));
        let response = request.send().await.unwrap();
        received += &format!("{:?}\n", response.headers());
        received += &response.text().await.unwrap();
    }
    let taken = json!({ "id": "box", "endpoint": elsewhere, "token": TOKEN });
    let taken = hub.request(Method::POST, "/api/runtimes").json(&taken).send().await.unwrap();
    received += &taken.text().await.unwrap();
    // Whoever watches is told of everything that goes wrong with the runtime.
    ask(&daemon, Method::DELETE, "/v1/sessions/s", None).await;
    let (last, _) = viewer.end().await;
    assert_eq!(last["diagnostic"]["code"], "backend.worker_not_found");
    hub.kill_and_restart();
    received += &viewer.received;
    let home = daemon.home();
    let places =
        [daemon.base().strip_prefix("http://").unwrap(), "127.0.0.1:9", "far/away", home.to_str().unwrap()];
    for secret in places.into_iter().chain([TOKEN, "another-token"]) {
        assert!(!received.contains(secret), "`{secret}` is in what was received");
    }
    // Nor does a cursor, once it is taken apart.
    let cursor = seen[0]["cursor"].as_str().unwrap();
    let decoded = base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, cursor).unwrap();
    let decoded = String::from_utf8_lossy(&decoded).into_owned();
    assert!(!decoded.contains(TOKEN) && !decoded.contains("127.0.0.1"), "{decoded}");
}

/// No secret is in any file or in the log, or in any answer but the one that it was made for.
#[tokio::test]
async fn a_secret_is_shown_once() {
    let hub = TestHub::start_with(TOMBOLO, &["--log", "debug"]);
    let ana = somebody(&hub, "ana", json!({ "everywhere": "viewer" })).await;
    let (id, revoked) = token(&hub, json!({ "name": "t", "user": "ana" })).await;
    let login = hub.request(Method::POST, "/api/login").json(&json!({ "token": ana })).send().await.unwrap();
    let cookie = login.headers()["set-cookie"].to_str().unwrap().to_owned();
    let cookie = cookie.split([';', '=']).nth(1).unwrap().to_owned();
    let mut received = login.text().await.unwrap();
    for (method, path) in [
        (Method::GET, "/api/users"),
        (Method::GET, "/api/users/ana"),
        (Method::GET, "/api/tokens"),
        (Method::GET, "/api/tokens?user=ana"),
        (Method::GET, "/api/whoami"),
        (Method::DELETE, &format!("/api/tokens/{id}")),
        (Method::GET, "/api/audit"),
        (Method::GET, "/api/nowhere"),
    ] {
        for token in [hub.token(), &ana, &revoked, "tombolo_never-heard-of-it"] {
            let response = hub.request_as(token, method.clone(), path).send().await.unwrap();
            received += &format!("{:?}\n", response.headers());
            received += &response.text().await.unwrap();
        }
    }
    let mut kept = received.into_bytes();
    for entry in std::fs::read_dir(hub.directory()).unwrap() {
        kept.extend(std::fs::read(entry.unwrap().path()).unwrap());
    }
    for secret in [hub.token(), &ana, &revoked, &cookie, "tombolo_never-heard-of-it"] {
        assert!(secret.len() > 10);
        // Neither whole nor without what all of them begin with.
        let bare = secret.strip_prefix("tombolo_").unwrap().as_bytes();
        assert!(!kept.windows(bare.len()).any(|bytes| bytes == bare), "`{secret}` is somewhere");
    }
}

/// What the hub keeps of a runtime can be read by its owner only.
#[tokio::test]
async fn what_is_kept_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let (_daemon, hub) = both().await;
    for file in ["runtimes.json", "people.json", "cursor.key", "audit.db", "audit.db-wal"] {
        let mode = std::fs::metadata(hub.directory().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}
