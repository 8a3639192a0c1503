//! Requests that a runtime does not answer, or that a client does not finish.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Instant,
};

use super::*;
use crate::{check_problem, problem};

/// The time that the hubs of these tests give a runtime for a response that needs no agent.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(2);

/// A hub that waits for [`RESPONSE_TIMEOUT`], and a daemon that it knows as `box`.
async fn impatient() -> (TestDaemon, TestHub) {
    let daemon = TestDaemonOptions::default().env("TOMBOLO_TOKEN", TOKEN).start(TOMBOLO);
    let hub = TestHub::start_with(TOMBOLO, &["--response-timeout", "2s"]);
    hub.add_runtime("box", daemon.base(), Some(TOKEN)).await;
    (daemon, hub)
}

#[tokio::test]
async fn a_stopped_runtime_does_not_hold_a_request() {
    let (daemon, hub) = impatient().await;
    get(&hub, "/api/runtimes/box/v1/sessions").await;
    daemon.signal("STOP");
    let started = Instant::now();
    let read = hub.request(Method::GET, "/api/runtimes/box/v1/sessions").send();
    let response = within(secs(20), read).await.unwrap();
    check_problem(&problem(response).await, 504, "urn:problem:runtime-timeout");
    assert!(started.elapsed() >= RESPONSE_TIMEOUT);
    assert_eq!(get(&hub, "/api/runtimes/box").await["isReachable"], false);
    // A stopped process takes nothing from its sockets: the upload blocks once their buffers are full.
    let message = json!({ "message": "x".repeat(15 << 20) });
    let upload = hub.request(Method::POST, "/api/runtimes/box/v1/sessions/s/messages").json(&message).send();
    check_problem(
        &problem(within(secs(20), upload).await.unwrap()).await,
        504,
        "urn:problem:runtime-timeout",
    );
    daemon.signal("CONT");
    until_up(&hub, "box").await;
}

#[tokio::test]
async fn a_request_that_waits_for_a_process_is_not_cut() {
    let (daemon, hub) = impatient().await;
    let started = json!({ "command": "sleep", "args": ["600"] });
    let process = through(&hub, Method::POST, "/api/runtimes/box/v1/processes", Some(started)).await;
    let logs = format!("/api/runtimes/box/v1/processes/{}/logs?follow=true", process["id"].as_str().unwrap());
    let mut stream = hub.request(Method::GET, &logs).send().await.unwrap();
    let wait =
        format!("/api/runtimes/box/v1/processes/{}/wait?timeoutMs=5000", process["id"].as_str().unwrap());
    let begun = Instant::now();
    let waited = through(&hub, Method::POST, &wait, None).await;
    assert_eq!(waited["state"], "running", "{waited}");
    assert!(begun.elapsed() > 2 * RESPONSE_TIMEOUT);
    // The stream has been open for longer than a response may take to begin.
    let path = format!("/v1/processes/{}/signal", process["id"].as_str().unwrap());
    ask(&daemon, Method::POST, &path, Some(json!({ "signal": "KILL" }))).await;
    while within(secs(20), stream.chunk()).await.unwrap().is_some() {}
}

/// What is wrong with the body of a client is no failure of the runtime.
#[tokio::test]
async fn a_broken_chunk_of_a_client_is_answered_with_400() {
    let (_daemon, hub) = both().await;
    get(&hub, "/api/runtimes/box/v1/sessions").await;
    let path = "/api/runtimes/box/v1/fs/file?path=broken";
    let head = format!(
        "PUT {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {}\r\ntransfer-encoding: chunked\r\n\r\n",
        hub.token()
    );
    let mut socket = TcpStream::connect(hub.base().strip_prefix("http://").unwrap()).unwrap();
    socket.set_read_timeout(Some(secs(20))).unwrap();
    socket.write_all(format!("{head}3\r\nabc\r\nthis is no chunk\r\n").as_bytes()).unwrap();
    let mut response = vec![0; 4096];
    let read = socket.read(&mut response).unwrap();
    let response = String::from_utf8_lossy(&response[..read]);
    assert!(response.starts_with("HTTP/1.1 400 "), "{response}");
    assert!(response.contains("urn:problem:invalid-request"), "{response}");
    assert_eq!(get(&hub, "/api/runtimes/box").await["isReachable"], true);
}
