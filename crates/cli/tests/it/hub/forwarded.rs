//! Daemons driven through the hub.

use std::path::Path;

use super::*;
use crate::{check_problem, cli::mirrored::Recorder, problem};
use futures_util::StreamExt;
use testkit::proc::peak_kib;

/// How much goes through in each direction, …
const MIB: usize = 64;
/// … while neither the hub nor the daemon grows by more than this.
const GROWTH_KIB_MAX: u64 = 16 << 10;

/// A conversation through the hub: created, spoken to, followed and deleted, with the hub's token only.
#[tokio::test]
async fn a_session_is_driven_through_the_hub() {
    let (daemon, hub) = both().await;
    let at = |path: &str| format!("/api/runtimes/box/v1/sessions/s{path}");
    let created = hub.request(Method::POST, &at("")).json(&json!({ "agent": "mock" })).send().await.unwrap();
    assert_eq!(created.status(), 200);
    let followed = hub.request(Method::GET, &at("/events/sse?offset=0")).send().await.unwrap();
    assert_eq!(followed.headers()["content-type"], "text/event-stream");
    let mut followed = EventStream::new(followed);
    let sent = hub.request(Method::POST, &at("/messages")).json(&json!({ "message": "hello" })).send().await;
    assert_eq!(sent.unwrap().status(), 202);
    let mut seen = Vec::new();
    while seen.last().is_none_or(|record: &Value| record["event"].get("turnEnded").is_none()) {
        let event = within(secs(20), followed.next()).await.unwrap();
        seen.push(serde_json::from_str(&event.data).unwrap());
    }
    let told = events(&daemon, "s").await;
    assert_eq!(seen.iter().map(|record| record["event"].clone()).collect::<Vec<_>>(), told[..seen.len()]);
    assert_eq!(hub.request(Method::DELETE, &at("")).send().await.unwrap().status(), 204);
    // What the daemon says no to is told as it says it.
    let gone = hub.request(Method::GET, &at("")).send().await.unwrap();
    check_problem(&problem(gone).await, 404, "urn:problem:session-not-found");
}

/// Every command for a daemon is one for the hub: only the address is another.
#[tokio::test]
async fn the_commands_of_a_daemon_work_through_the_hub() {
    let (_daemon, hub) = both().await;
    let output = std::process::Command::new(TOMBOLO)
        .args(["api", "sessions", "create", "s", "--agent", "mock", "--endpoint"])
        .arg(format!("{}/api/runtimes/box", hub.base()))
        .env("TOMBOLO_TOKEN", hub.token())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What a hostile runtime says to everything.
const HOSTILE: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\ncontent-type: application/json\r\n\
    etag: \"1\"\r\nclear-site-data: \"*\"\r\naccess-control-allow-origin: *\r\naccess-control-allow-credentials: true\r\n\
    location: https://evil.example\r\nrefresh: 0; url=https://evil.example\r\nstrict-transport-security: max-age=1\r\n\
    alt-svc: h2=\"evil.example:443\"\r\nwww-authenticate: Basic\r\nservice-worker-allowed: /\r\nset-cookie: a=b\r\n\
    link: <https://evil.example>; rel=preload\r\n\r\n{}";

/// A header of a runtime is passed on only if it cannot act in the name of the hub.
#[tokio::test]
async fn headers_of_a_runtime_do_not_act_for_the_hub() {
    let (hub, runtime) = (TestHub::start(TOMBOLO), Recorder::start(HOSTILE));
    hub.add_runtime("box", &runtime.endpoint(), Some(TOKEN)).await;
    let response = hub.request(Method::GET, "/api/runtimes/box/v1/sessions").send().await.unwrap();
    assert_eq!(response.status(), 200);
    let mut names: Vec<_> = response.headers().keys().map(|name| name.as_str().to_owned()).collect();
    names.sort_unstable();
    let expected =
        ["content-length", "content-security-policy", "content-type", "date", "etag", "request-id"];
    names.retain(|name| name != "x-content-type-options" && name != "vary");
    assert_eq!(names, expected);
}

/// Large bodies pass in both directions as they come.
#[tokio::test]
async fn large_bodies_are_not_held() {
    let (daemon, hub) = both().await;
    check_large_bodies_between(&daemon, &hub).await;
}

/// The same through a tunnel, by either end of it.
#[tokio::test]
async fn large_bodies_are_not_held_by_a_tunnel() {
    let hub = TestHub::start(TOMBOLO);
    let daemon = join(&hub, hub.base(), "box").await;
    check_large_bodies_between(&daemon, &hub).await;
}

async fn check_large_bodies_between(daemon: &TestDaemon, hub: &TestHub) {
    let both = [("hub", hub.pid()), ("daemon", daemon.pid())];
    check_large_bodies(&Person::owner(hub), "box", &daemon.home(), &both).await;
}

/// A large file goes into a directory of the runtime and comes back; none of these processes grows by it.
pub(super) async fn check_large_bodies(
    owner: &Person,
    runtime: &str,
    directory: &Path,
    processes: &[(&str, u32)],
) {
    let path = format!("/api/runtimes/{runtime}/v1/fs/file?path={}/large", directory.display());
    let put = || owner.request(Method::PUT, &path).header("content-type", "application/octet-stream");
    // Once, so that what is needed for any request is there.
    assert!(put().body("small").send().await.unwrap().status().is_success());
    let before: Vec<_> = processes.iter().map(|(_, pid)| peak_kib(*pid)).collect();
    let pieces =
        futures_util::stream::iter((0..MIB).map(|piece| Ok::<_, std::io::Error>(vec![piece as u8; 1 << 20])));
    let body = reqwest::Body::wrap_stream(pieces);
    assert!(put().body(body).send().await.unwrap().status().is_success());
    let mut got = owner.request(Method::GET, &path).send().await.unwrap().bytes_stream();
    let mut bytes = 0;
    while let Some(piece) = got.next().await {
        for byte in piece.unwrap() {
            assert_eq!(usize::from(byte), bytes >> 20);
            bytes += 1;
        }
    }
    assert_eq!(bytes, MIB << 20);
    for ((who, pid), before) in processes.iter().zip(before) {
        let grown = peak_kib(*pid).saturating_sub(before);
        assert!(grown < GROWTH_KIB_MAX, "the {who} grew by {grown} KiB");
    }
}

/// What cannot be passed on is told, without where to; nothing but the API of the runtime can be reached.
#[tokio::test]
async fn what_cannot_be_passed_on_is_told() {
    let (_daemon, hub) = both().await;
    hub.add_runtime("down", "http://127.0.0.1:9", None).await;
    for (path, status, kind) in [
        ("/api/runtimes/down/v1/health", 502, "urn:problem:runtime-unavailable"),
        ("/api/runtimes/none/v1/health", 404, "urn:problem:runtime-not-found"),
        ("/api/runtimes/box/v1/..%2fsecret", 400, "urn:problem:invalid-request"),
        ("/api/runtimes/box/v1/sessions//x", 400, "urn:problem:invalid-request"),
    ] {
        let response = hub.request(Method::GET, path).send().await.unwrap();
        check_problem(&problem(response).await, status, kind);
    }
    let nobody = reqwest::get(format!("{}/api/runtimes/box/v1/health", hub.base())).await.unwrap();
    check_problem(&problem(nobody).await, 401, "urn:problem:unauthorized");
}
