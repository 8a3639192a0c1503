use std::time::Instant;

use reqwest::Method;
use serde_json::Value;
use testkit::{TestDaemon, TestDaemonOptions, within};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{TOMBOLO, check_problem, problem, secs};

/// What a server answers to bytes as they are.
async fn raw(daemon: &TestDaemon, request: &str) -> String {
    let mut socket = TcpStream::connect(daemon.base().trim_start_matches("http://")).await.unwrap();
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    within(secs(10), socket.read_to_end(&mut answer)).await.unwrap();
    String::from_utf8(answer).unwrap()
}

/// daemon-1: the root says what this is, and the OpenAPI document is served as it is committed.
#[tokio::test]
async fn the_daemon_describes_itself() {
    let daemon = TestDaemon::start(TOMBOLO);
    let about: Value = daemon.get("/").await.json().await.unwrap();
    assert_eq!(about["name"], "tombolo");
    let served: Value = daemon.get(about["openapi"].as_str().unwrap()).await.json().await.unwrap();
    assert!(served["openapi"].as_str().unwrap().starts_with("3.1"));
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let committed: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert!(served == committed, "docs/openapi.json is out of date: run `cargo xtask codegen`");
}

/// daemon-4: wrong methods, routes, queries and bodies are problem documents that name what is wrong.
#[tokio::test]
async fn every_mistake_is_a_problem_document() {
    let daemon = TestDaemon::start(TOMBOLO);
    let wrong = daemon.request(Method::PATCH, "/v1/acp/a").send().await.unwrap();
    assert!(wrong.headers()["allow"].to_str().unwrap().contains("POST"));
    check_problem(&problem(wrong).await, 405, "urn:problem:method-not-allowed");
    check_problem(&problem(daemon.get("/v2/acp").await).await, 404, "urn:problem:not-found");
    let query = problem(daemon.get("/v1/fs/entries?limit=0&path=/").await).await;
    check_problem(&query, 400, "urn:problem:invalid-request");
    assert!(query["detail"].as_str().unwrap().contains("limit"), "{query}");
    let missing = problem(daemon.get("/v1/fs/entries").await).await;
    assert!(missing["detail"].as_str().unwrap().contains("path"), "{missing}");
    let unknown = problem(daemon.get("/v1/fs/stat?path=/&foo=1").await).await;
    assert!(unknown["detail"].as_str().unwrap().contains("foo"), "{unknown}");
    let body = daemon.request(Method::POST, "/v1/fs/move").json(&serde_json::json!({ "from": "/a" })).send();
    let body = problem(body.await.unwrap()).await;
    check_problem(&body, 400, "urn:problem:invalid-request");
    assert!(body["detail"].as_str().unwrap().contains("`to`"), "{body}");
    let large = daemon.request(Method::POST, "/v1/fs/move").header("content-type", "application/json");
    let large = large.body(" ".repeat(2 << 20)).send().await.unwrap();
    check_problem(&problem(large).await, 413, "urn:problem:payload-too-large");
}

/// daemon-4: a client that starts a request and does not go on is cut, and a body that pauses is told so.
#[tokio::test]
async fn slow_requests_are_cut() {
    let daemon = TestDaemonOptions::default().arg("--stall-timeout=200ms").start(TOMBOLO);
    let start = Instant::now();
    raw(&daemon, "GET /v1/hea").await;
    assert!(start.elapsed() < secs(5));
    let host = daemon.base().trim_start_matches("http://").to_owned();
    let head = format!("PUT /v1/fs/file?path=a HTTP/1.1\r\nhost: {host}\r\ncontent-length: 10\r\n\r\nabc");
    let answer = raw(&daemon, &head).await;
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("urn:problem:request-timeout"), "{answer}");
    assert!(!daemon.home().join("a").exists());
    let long = format!("GET /v1/health HTTP/1.1\r\nhost: {host}\r\nx: {}\r\n\r\n", "y".repeat(400_000));
    assert!(raw(&daemon, &long).await.starts_with("HTTP/1.1 431"));
    assert_eq!(daemon.get("/v1/health").await.status(), 200);
}

/// A refusal arrives although the client is still sending: forty large uploads without the token.
#[tokio::test]
async fn a_refused_upload_gets_its_answer() {
    let daemon = TestDaemonOptions::default().arg("--token=correct-horse").start(TOMBOLO);
    let body = bytes::Bytes::from(vec![b'x'; 16 << 20]);
    for _ in 0..40 {
        let put = daemon.request(Method::PUT, "/v1/fs/file?path=a").body(body.clone()).send().await;
        check_problem(&problem(put.unwrap()).await, 401, "urn:problem:unauthorized");
    }
}

/// daemon-2: on the loopback only known names and origins are answered, so that no web page can rebind its name.
#[tokio::test]
async fn foreign_hosts_and_origins_are_refused() {
    let daemon = TestDaemonOptions::default().arg("--allow-host=box.example").start(TOMBOLO);
    let get = |host: &str, origin: Option<&str>| {
        let mut request = daemon.request(Method::GET, "/v1/acp").header("host", host);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        request.send()
    };
    for host in
        ["localhost", "localhost:2468", "127.0.0.1:1", "[::1]:2468", "LOCALHOST", "box.example", "127.1.2.3"]
    {
        assert_eq!(get(host, None).await.unwrap().status(), 200, "{host}");
    }
    for host in ["evil.example", "localhost.evil.example", "192.168.0.1", "[::2]", "evil.example:2468"] {
        check_problem(&problem(get(host, None).await.unwrap()).await, 403, "urn:problem:host-not-allowed");
    }
    assert_eq!(get("localhost:5", Some("http://localhost:5")).await.unwrap().status(), 200);
    for origin in ["http://evil.example", "null", "http://localhost:6", "https://localhost:5.evil.example"] {
        check_problem(
            &problem(get("localhost:5", Some(origin)).await.unwrap()).await,
            403,
            "urn:problem:host-not-allowed",
        );
    }
}

/// daemon-2: CORS is off by default and opened by flags.
#[tokio::test]
async fn cors_is_opened_by_flags() {
    let closed = TestDaemon::start(TOMBOLO);
    let preflight = |daemon: &TestDaemon| {
        let request = daemon.request(Method::OPTIONS, "/v1/acp").header("origin", "https://app.example");
        request
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization")
            .send()
    };
    assert_eq!(preflight(&closed).await.unwrap().status(), 403);
    let options = TestDaemonOptions::default()
        .arg("--token=correct-horse")
        .arg("--cors-allow-origin=https://app.example");
    let open = options.arg("--cors-allow-credentials").start(TOMBOLO);
    let answer = preflight(&open).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["access-control-allow-origin"], "https://app.example");
    assert_eq!(answer.headers()["access-control-allow-credentials"], "true");
    assert!(answer.headers()["access-control-allow-headers"].to_str().unwrap().contains("authorization"));
    let get = open
        .request(Method::GET, "/v1/acp")
        .header("origin", "https://app.example")
        .bearer_auth("correct-horse");
    let answer = get.send().await.unwrap();
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["access-control-allow-origin"]),
        (200, &"https://app.example".parse().unwrap())
    );
    let other = open
        .request(Method::GET, "/v1/acp")
        .header("origin", "https://evil.example")
        .bearer_auth("correct-horse");
    assert_eq!(other.send().await.unwrap().status(), 403);
}

/// daemon-2: an open daemon does not listen on the network unless that is said.
#[test]
fn an_open_daemon_stays_on_the_loopback() {
    let run = |args: &[&str]| {
        let home = tempfile::tempdir().unwrap();
        let mut command = std::process::Command::new(TOMBOLO);
        command
            .args(["daemon", "--port", "0"])
            .args(args)
            .env("HOME", home.path())
            .env_remove("TOMBOLO_TOKEN");
        command.output().unwrap()
    };
    let refused = run(&["--host", "0.0.0.0"]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("without a token"));
    let short = run(&["--token", "short"]);
    assert!(
        !short.status.success()
            && String::from_utf8_lossy(&short.stderr).contains("the token must have at least")
    );
    let both = run(&["--token", "long-enough", "--no-token"]);
    assert_eq!(both.status.code(), Some(2));
}

/// A daemon says nothing while it works, and never its token.
#[tokio::test]
async fn a_daemon_is_quiet_and_keeps_its_token() {
    let daemon =
        TestDaemonOptions::default().env("TOMBOLO_TOKEN", "correct-horse").arg("--log=info").start(TOMBOLO);
    let get = daemon.request(Method::GET, "/v1/agents").bearer_auth("correct-horse");
    assert!(get.send().await.unwrap().status().is_success());
    assert_eq!(daemon.get("/v1/agents").await.status(), 401);
    let cmdline = std::fs::read(format!("/proc/{}/cmdline", daemon.pid())).unwrap();
    assert!(!String::from_utf8_lossy(&cmdline).contains("correct-horse"));
    daemon.signal("TERM");
    let (code, log) = daemon.wait_for_exit();
    assert_eq!((code, log.as_str()), (Some(0), ""), "no line per request at info");
}
