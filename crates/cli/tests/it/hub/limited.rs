//! How much of the hub one may use.

use futures_util::future::join_all;
use tokio::io::AsyncWriteExt;

use super::*;
use crate::{check_problem, problem, secs};

/// Asks until that is too often; how often it was answered before.
async fn until_too_often(hub: &TestHub, token: &str) -> usize {
    for count in 0..200 {
        let response = hub.request_as(token, Method::GET, "/api/whoami").send().await.unwrap();
        if response.status() != 429 {
            continue;
        }
        let after: u64 = response.headers()["retry-after"].to_str().unwrap().parse().unwrap();
        assert!((1..=20).contains(&after), "{after}");
        check_problem(&problem(response).await, 429, "urn:problem:too-many-requests");
        return count;
    }
    panic!("it is never too often");
}

/// Who guesses is told to wait; who has a good token is not, wherever they come from.
#[tokio::test]
async fn who_guesses_has_to_wait() {
    let hub = TestHub::start_with(TOMBOLO, &["--failures-per-minute", "3"]);
    assert!(until_too_often(&hub, "a-guess").await >= 3);
    let login = hub.request(Method::POST, "/api/login").json(&json!({ "token": "another" }));
    assert_eq!(answer(login).await.0, 429);
    assert_eq!(answer(hub.request(Method::GET, "/api/whoami")).await.0, 200);
    let login = hub.request(Method::POST, "/api/login").json(&json!({ "token": hub.token() }));
    assert_eq!(answer(login).await.0, 200);
    // Guesses do not push everything else out of the audit.
    for _ in 0..50 {
        answer(hub.request_as("a-guess", Method::GET, "/api/whoami")).await;
    }
    let (_, page) = answer(hub.request(Method::GET, "/api/audit")).await;
    let kept = page["items"].as_array().unwrap().iter().filter(|item| item["entry"]["status"] == 401);
    assert!(kept.count() < 10, "{page}");
}

/// One token cannot take all of the hub; the others go on.
#[tokio::test]
async fn a_token_asks_only_so_often() {
    let hub = TestHub::start_with(TOMBOLO, &["--requests-per-second", "1"]);
    let (_, other) = token(&hub, json!({ "name": "other" })).await;
    assert!(until_too_often(&hub, hub.token()).await >= 5);
    assert_eq!(answer(hub.request_as(&other, Method::GET, "/api/whoami")).await.0, 200);
}

/// The resident memory of a process, in bytes.
fn resident_bytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() * 1024
}

/// Who is not known yet cannot make the hub hold large bodies, on any route.
#[tokio::test]
async fn large_bodies_of_strangers_take_no_memory() {
    const CONNECTIONS: usize = 400;
    // The published program has to stay below 16 MiB; an unoptimised build needs more for each connection.
    const GROWTH_MAX: u64 = 32 << 20;
    let hub = TestHub::start(TOMBOLO);
    let environment = format!("/api/v1/relay/environments/env_{:032}/requests", 0);
    let paths = ["/api/login", "/api/devices/pairings", &environment, "/api/users"];
    // The first requests of all make the hub allocate what it keeps.
    for path in paths {
        hub.request_as("wrong", Method::POST, path).json(&json!({})).send().await.unwrap();
    }
    let before = resident_bytes(hub.pid());
    let address = hub.base().strip_prefix("http://").unwrap().to_owned();
    let send = |path: &str| {
        let length = 1 << 20;
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        );
        let address = address.clone();
        async move {
            let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
            stream.write_all(head.as_bytes()).await.unwrap();
            // All but the last byte: the request never ends. The hub may close the connection before that.
            let _ = stream.write_all(&vec![b' '; length - 1]).await;
            stream
        }
    };
    let paths = paths.iter().cycle().take(CONNECTIONS);
    let streams = within(secs(60), join_all(paths.map(|path| send(path)))).await;
    let after = resident_bytes(hub.pid());
    assert_eq!(streams.len(), CONNECTIONS);
    let growth = after.saturating_sub(before);
    assert!(growth <= GROWTH_MAX, "{growth} bytes more for {CONNECTIONS} connections");
}

/// Who sends too much reads that it was too much, even if they send it all first.
#[tokio::test]
async fn a_body_that_is_too_large_is_answered_readably() {
    let hub = TestHub::start(TOMBOLO);
    for _ in 0..20 {
        let body = vec![b' '; 8 << 20];
        let request = hub.request(Method::POST, "/api/users").header("content-type", "application/json");
        assert_eq!(request.body(body).send().await.unwrap().status(), 413);
    }
}
