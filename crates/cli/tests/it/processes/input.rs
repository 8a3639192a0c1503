//! daemon-13: "input".

use testkit::{TestDaemon, within};

use super::*;
use crate::{check_problem, problem, secs};

#[tokio::test]
async fn input_is_echoed_until_it_is_closed() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = start(&daemon, &json!({ "command": "cat" })).await["id"].as_str().unwrap().to_owned();
    let mut events = follow(&daemon, &id).await;
    assert_eq!(input(&daemon, &id, "", b"hello\n").await.status(), 204);
    assert_eq!(within(secs(20), text(&mut events)).await, "hello\n");
    assert_eq!(input(&daemon, &id, "?close=true", b"bye\n").await.status(), 204);
    let (rest, last) = (within(secs(20), events.rest()).await, "exited");
    assert_eq!((told(&rest).0.as_str(), rest.last().unwrap().event.as_str()), ("bye\n", last));
    let late = problem(input(&daemon, &id, "", b"more").await).await;
    check_problem(&late, 409, "urn:problem:process-ended");
}

#[tokio::test]
async fn a_closed_input_takes_no_more() {
    let daemon = TestDaemon::start(TOMBOLO);
    let id = sh(&daemon, "sleep 600").await;
    assert_eq!(input(&daemon, &id, "?close=true", b"").await.status(), 204);
    check_problem(&problem(input(&daemon, &id, "", b"more").await).await, 409, "urn:problem:input-closed");
}

#[tokio::test]
async fn a_process_that_does_not_read_is_busy() {
    static PIECE: [u8; 256 << 10] = [b'x'; 256 << 10];
    let daemon = TestDaemon::start(TOMBOLO);
    let id = sh(&daemon, "sleep 600").await;
    let mut refused = None;
    for _ in 0..32 {
        let response = input(&daemon, &id, "", &PIECE).await;
        if response.status() != 204 {
            refused = Some(response);
            break;
        }
    }
    let refused = refused.unwrap();
    assert_eq!(refused.headers()["retry-after"], "1");
    check_problem(&problem(refused).await, 503, "urn:problem:process-busy");
}

#[tokio::test]
async fn input_is_bounded_and_of_one_type() {
    static LARGE: [u8; (1 << 20) + 1] = [0; (1 << 20) + 1];
    let daemon = TestDaemon::start(TOMBOLO);
    let id = start(&daemon, &json!({ "command": "cat" })).await["id"].as_str().unwrap().to_owned();
    check_problem(
        &problem(input(&daemon, &id, "", &LARGE).await).await,
        413,
        "urn:problem:payload-too-large",
    );
    let as_json = problem(daemon.post_text(&path(&id, "/input"), "x").await).await;
    check_problem(&as_json, 415, "urn:problem:unsupported-media-type");
}
