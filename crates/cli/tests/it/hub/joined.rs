//! Daemons that call the hub, from where nobody can reach them.

use futures_util::future::join_all;
use testkit::tls_proxy::{CERTIFICATE, OTHER_CERTIFICATE, TlsProxy};
use tokio_tungstenite::tungstenite;

use super::*;

/// How many sessions are watched at a time.
const SESSIONS: usize = 50;

/// How many ask for a file and never read it, and how large it is: more than fits anywhere on the way.
const STALLED: usize = 4;
const FILE_BYTES: usize = 32 << 20;

/// Where a session is, through the hub.
fn at(id: &str, path: &str) -> String {
    format!("/api/runtimes/box/v1/sessions/{id}{path}")
}

async fn create_through(hub: &TestHub, id: &str) {
    through(hub, Method::POST, &at(id, ""), Some(json!({ "agent": "mock" }))).await;
}

async fn send_through(hub: &TestHub, id: &str, message: &str) {
    through(hub, Method::POST, &at(id, "/messages"), Some(json!({ "message": message }))).await;
}

/// How an attempt to join is answered.
async fn status(hub: &TestHub, query: &str, token: &str) -> u16 {
    match Viewer::at(&format!("{}/api/join/ws{query}", hub.base()), token).await.map(drop) {
        Err(tungstenite::Error::Http(response)) => response.status().as_u16(),
        Err(other) => panic!("{other}"),
        Ok(()) => 101,
    }
}

/// observation-1, observation-2, observation-5, observation-37: a daemon whose address nobody knows is driven and watched through the hub, which asks it over
/// the connection that the daemon made; and nothing that is received tells where it is.
#[tokio::test]
async fn a_daemon_that_nobody_can_reach_is_driven_and_watched() {
    let hub = TestHub::start(TOMBOLO);
    let daemon = join(&hub, hub.base(), "box").await;
    create_through(&hub, "s").await;
    let mut viewer = Viewer::new(&hub, "s", None).await;
    viewer.until("control").await;
    send_through(&hub, "s", "/permission").await;
    let asked = viewer.until_event("permissionAsked").await;
    let wait = asked.last().unwrap()["payload"]["permissionAsked"]["id"].as_str().unwrap().to_owned();
    let reply = at("s", &format!("/permissions/{wait}/reply"));
    through(&hub, Method::POST, &reply, Some(json!({ "reply": "once" }))).await;
    let seen = viewer.until_event("turnEnded").await;
    let told = events(&daemon, "s").await;
    let payloads: Vec<_> = asked.iter().chain(&seen).map(|envelope| envelope["payload"].clone()).collect();
    let end = told.iter().position(|event| event.get("turnEnded").is_some()).unwrap();
    assert_eq!(payloads, told[end + 1 - payloads.len()..=end]);
    let mut received = viewer.received.clone();
    for path in ["/api/runtimes", "/api/runtimes/box", "/api/runtimes/box/workers", &at("none", "")] {
        let response = hub.request(Method::GET, path).send().await.unwrap();
        received += &format!("{:?}\n{}", response.headers().clone(), response.text().await.unwrap());
    }
    assert_eq!(get(&hub, "/api/runtimes").await["items"][0]["kind"], "joined");
    assert_eq!(get(&hub, "/api/runtimes").await["items"][0]["isReachable"], true);
    let address = daemon.base().strip_prefix("http://").unwrap();
    for secret in [address, TOKEN, "localhost", "tombolo_join_"] {
        assert!(!received.contains(secret), "`{secret}` is in what was received");
    }
}

/// Many sessions share one tunnel, and streams that nobody reads do not stop those that somebody does.
#[tokio::test]
async fn who_does_not_read_stops_nobody_else() {
    let hub = TestHub::start(TOMBOLO);
    let daemon = join(&hub, hub.base(), "box").await;
    let file = daemon.home().join("large");
    std::fs::write(&file, vec![7; FILE_BYTES]).unwrap();
    let path = format!("/api/runtimes/box/v1/fs/file?path={}", file.display());
    let stalled = join_all((0..STALLED).map(|_| async {
        let mut response = hub.request(Method::GET, &path).send().await.unwrap();
        assert!(response.chunk().await.unwrap().is_some());
        response
    }))
    .await;
    let watched = join_all((0..SESSIONS).map(|number| {
        let hub = &hub;
        async move {
            let id = format!("s{number}");
            create_through(hub, &id).await;
            let mut viewer = Viewer::new(hub, &id, None).await;
            viewer.until("control").await;
            (id, viewer)
        }
    }))
    .await;
    // All of them are open at once.
    join_all(watched.into_iter().map(|(id, mut viewer)| {
        let (hub, daemon) = (&hub, &daemon);
        async move {
            send_through(hub, &id, "/chunks 200").await;
            let seen = viewer.until_event("turnEnded").await;
            let told = events(daemon, &id).await;
            let payloads: Vec<_> = seen.iter().map(|envelope| envelope["payload"].clone()).collect();
            let end = told.iter().position(|event| event.get("turnEnded").is_some()).unwrap();
            assert_eq!(payloads, told[end + 1 - seen.len()..=end]);
        }
    }))
    .await;
    // They can still be read to their end.
    for response in stalled {
        let rest = within(secs(60), response.bytes()).await.unwrap();
        assert!(rest.len() < FILE_BYTES && rest.iter().all(|byte| *byte == 7));
    }
}

/// Only what the hub gave out lets a daemon join, as what it was given out for, and until it is taken back.
#[tokio::test]
async fn only_who_was_invited_joins() {
    let hub = TestHub::start(TOMBOLO);
    let token = hub.create_join_token("box").await;
    let other = hub.create_join_token("other").await;
    for (query, with, expected) in [
        ("", "", 401),
        ("", "tombolo_join_wrong", 401),
        // Who may use the hub is no runtime.
        ("", hub.token(), 401),
        ("?name=box", &*other, 403),
        ("?name=none", &*token, 403),
        ("?unknown=1", &*token, 400),
        ("?name=box", &*token, 101),
        ("", &*token, 101),
    ] {
        assert_eq!(status(&hub, query, with).await, expected, "{query} {with}");
    }
    // It lets nobody do anything else.
    let elsewhere = reqwest::Client::new().get(format!("{}/api/runtimes", hub.base())).bearer_auth(&token);
    assert_eq!(elsewhere.send().await.unwrap().status(), 401);
    for id in ["box", "join-tokens"] {
        let again = hub.request(Method::POST, "/api/runtimes/join-tokens").json(&json!({ "id": id }));
        assert!(matches!(again.send().await.unwrap().status().as_u16(), 400 | 409), "{id}");
    }
    let kept = std::fs::read_to_string(hub.directory().join("runtimes.json")).unwrap();
    assert!(!kept.contains(&token) && !get(&hub, "/api/runtimes").await.to_string().contains(&token));
    through(&hub, Method::DELETE, "/api/runtimes/box", None).await;
    assert_eq!(status(&hub, "", &token).await, 401);
}

/// A runtime that is removed is gone at once, whoever uses it; and comes back only as one that is invited anew.
#[tokio::test]
async fn a_runtime_that_is_removed_is_cut_off() {
    let hub = TestHub::start(TOMBOLO);
    let _daemon = join(&hub, hub.base(), "box").await;
    create_through(&hub, "s").await;
    let mut viewer = Viewer::new(&hub, "s", None).await;
    viewer.until("control").await;
    let mut followed = hub.request(Method::GET, &at("s", "/events/sse?offset=0")).send().await.unwrap();
    through(&hub, Method::DELETE, "/api/runtimes/box", None).await;
    let (last, _) = viewer.end().await;
    assert_eq!(last["diagnostic"]["code"], "backend.worker_not_found");
    within(secs(20), async { while let Ok(Some(_)) = followed.chunk().await {} }).await;
    let gone = hub.request(Method::GET, &at("s", "")).send().await.unwrap();
    assert_eq!(gone.status(), 404);
    // What the daemon still has is of no use to it.
    hub.create_join_token("box").await;
    assert_eq!(get(&hub, "/api/runtimes/box").await["isReachable"], false);
}

/// A daemon that joins again takes the place of its connection before, even if nobody has noticed that it is lost.
#[tokio::test]
async fn who_joins_again_takes_the_place() {
    let hub = TestHub::start(TOMBOLO);
    let token = hub.create_join_token("box").await;
    let first = joining(hub.base(), &token).start(TOMBOLO);
    until_up(&hub, "box").await;
    create(&first, "first").await;
    assert_eq!(get(&hub, "/api/runtimes/box/workers").await["items"][0]["id"], "first");
    first.signal("STOP");
    // The same daemon, as if its sandbox had been restored elsewhere.
    let data = tempfile::tempdir().unwrap();
    let id = first.home().join(".local/share/tombolo/daemon-id");
    std::fs::copy(id, data.path().join("daemon-id")).unwrap();
    let second = joining(hub.base(), &token).arg("--join-as").arg("box");
    let second = second.arg("--data-dir").arg(data.path().display().to_string()).start(TOMBOLO);
    create(&second, "second").await;
    within(secs(20), async {
        loop {
            let workers = hub.request(Method::GET, "/api/runtimes/box/workers").send().await.unwrap();
            let workers: Value = workers.json().await.unwrap();
            if workers["items"][0]["id"] == "second" {
                break;
            }
        }
    })
    .await;
    // The one before has no say in it any more, however it ends.
    first.signal("CONT");
    first.signal("KILL");
    assert_eq!(first.wait_for_exit().0, None);
    for _ in 0..20 {
        assert_eq!(get(&hub, "/api/runtimes/box/workers").await["items"][0]["id"], "second");
    }
}

/// A token that two daemons have is that of the first: the other is refused, and all are told.
#[tokio::test]
async fn a_second_daemon_with_the_same_token_is_refused() {
    let hub = TestHub::start(TOMBOLO);
    let token = hub.create_join_token("box").await;
    let first = joining(hub.base(), &token).start(TOMBOLO);
    until_up(&hub, "box").await;
    create(&first, "first").await;
    let second = joining(hub.base(), &token).start(TOMBOLO);
    let refused =
        |entry: &Value| entry["entry"]["action"] == "runtimes.join" && entry["entry"]["status"] == 403;
    // Not faster than one token may ask.
    let mut pace = tokio::time::interval(Duration::from_millis(20));
    within(secs(20), async {
        while !get(&hub, "/api/audit").await["items"].as_array().unwrap().iter().any(refused) {
            pace.tick().await;
        }
    })
    .await;
    assert_eq!(get(&hub, "/api/runtimes/box/workers").await["items"][0]["id"], "first");
    second.signal("TERM");
    let (_, told) = second.wait_for_exit();
    assert!(told.contains("belongs to another daemon"), "{told}");
    assert_eq!(get(&hub, "/api/runtimes/box").await["isReachable"], true);
}

/// An invitation ends a day after it was made, or when it is asked to.
#[tokio::test]
async fn an_invitation_says_when_it_expires() {
    let hub = TestHub::start(TOMBOLO);
    let invite = |id: &str, expires_at: Value| {
        let body = json!({ "id": id, "expiresAt": expires_at });
        answer(hub.request(Method::POST, "/api/runtimes/join-tokens").json(&body))
    };
    assert_eq!(invite("past", json!("2020-01-01T00:00:00Z")).await.0, 400);
    let (status, invited) = invite("box", json!(null)).await;
    assert_eq!(status, 201);
    assert!(invited["expiresAt"].is_string(), "{invited}");
    let asked = "2100-01-01T00:00:00Z";
    assert_eq!(invite("late", json!(asked)).await.1["expiresAt"], asked);
}

/// What a daemon joins with is not taken from where everybody sees it, and not handed on to agents.
#[tokio::test]
async fn what_a_daemon_joins_with_stays_with_it() {
    let hub = TestHub::start(TOMBOLO);
    let daemon = join(&hub, hub.base(), "box").await;
    let start = json!({ "command": "env", "args": [] });
    let process = through(&hub, Method::POST, "/api/runtimes/box/v1/processes", Some(start)).await;
    let logs = format!("/api/runtimes/box/v1/processes/{}/logs", process["id"].as_str().unwrap());
    let shown = within(secs(20), async {
        loop {
            let shown = get(&hub, &logs).await.to_string();
            if shown.contains("PATH=") {
                return shown;
            }
        }
    })
    .await;
    assert!(!shown.contains("tombolo_join_"), "{shown}");
    let without = std::process::Command::new(TOMBOLO)
        .args(["daemon", "--port", "0", "--join", hub.base()])
        .env("HOME", daemon.home())
        .env_remove("TOMBOLO_JOIN_TOKEN")
        .output()
        .unwrap();
    let told = String::from_utf8(without.stderr).unwrap();
    assert!(!without.status.success() && told.contains("--join-token-file"), "{told}");
}

/// A daemon calls a hub over TLS if it trusts the certificate of the hub, such as one of a CA of one's own; to whoever shows
/// another, or another name, it does not say a word.
#[tokio::test]
async fn a_daemon_joins_over_tls_whom_it_trusts() {
    let hub = TestHub::start(TOMBOLO);
    let mut tls = TlsProxy::in_front_of(hub.base()).await;
    let token = hub.create_join_token("box").await;
    let file = |name: &str, certificate: &str| {
        let path = hub.directory().join(name);
        std::fs::write(&path, certificate).unwrap();
        path.display().to_string()
    };
    let (ours, others) = (file("ours.pem", CERTIFICATE), file("others.pem", OTHER_CERTIFICATE));
    let joining = |base: &str, trusted: &str| joining(base, &token).env("SSL_CERT_FILE", trusted);
    for (base, trusted) in [(tls.base(), &others), (tls.base_with_wrong_name(), &ours)] {
        let before = tls.handshakes_until(|_| true).await.failed;
        let daemon = joining(&base, trusted).start(TOMBOLO);
        // It has tried again, so that the first call is over.
        let calls = within(secs(20), tls.handshakes_until(|calls| calls.failed > before + 1)).await;
        assert_eq!(calls.completed, 0, "{base}");
        daemon.signal("TERM");
        let (_, told) = daemon.wait_for_exit();
        assert!(told.contains("could not join the hub") && told.contains("certificate"), "{told}");
        assert!(!told.contains(&token), "{told}");
    }
    assert_eq!(get(&hub, "/api/runtimes/box").await["isReachable"], false);
    let _daemon = joining(&tls.base(), &ours).start(TOMBOLO);
    until_up(&hub, "box").await;
    create_through(&hub, "s").await;
    assert_eq!(get(&hub, "/api/runtimes/box/workers").await["items"][0]["id"], "s");
    assert_eq!(tls.handshakes_until(|_| true).await.completed, 1);
}

/// The command prints what a daemon can be given in a file, and nothing else.
#[tokio::test]
async fn a_daemon_is_invited_on_the_command_line() {
    let hub = TestHub::start(TOMBOLO);
    let invite = std::process::Command::new(TOMBOLO)
        .args(["hub", "runtimes", "invite", "box"])
        .env("TOMBOLO_HUB", hub.base())
        .env("TOMBOLO_HUB_TOKEN", hub.token())
        .output()
        .unwrap();
    let file = hub.directory().join("join.token");
    std::fs::write(&file, invite.stdout).unwrap();
    let options = TestDaemonOptions::default().arg("--join").arg(hub.base());
    let _daemon = options.arg("--join-token-file").arg(file.to_str().unwrap()).start(TOMBOLO);
    until_up(&hub, "box").await;
}
