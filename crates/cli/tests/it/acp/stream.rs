use std::{collections::BTreeMap, time::Duration};

use reqwest::Method;
use serde_json::{Value, json};
use testkit::{EventStream, TestDaemon, TestDaemonOptions, within};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::*;
use crate::secs;

/// Says `{"method":"n","params":1}` and so on without end, as fast as the pipe takes it.
const ENDLESS: &str = "import sys\nsys.stdin.readline()\nn=0\nwhile 1:\n n+=1\n sys.stdout.write('{\"method\":\"n\",\"params\":%d}\\n'%n)";

/// acp-15: the frame, to the byte.
#[tokio::test]
async fn a_frame_is_exactly_as_specified() {
    let daemon = TestDaemonOptions::default().agent("cat", &["cat"]).start(TOMBOLO);
    daemon.post_text("/v1/acp/a?agent=cat", r#"{"jsonrpc":"2.0","method":"m"}"#).await;
    let mut response = daemon.get("/v1/acp/a").await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["cache-control"], "no-cache");
    let mut text = Vec::new();
    while !text.ends_with(b"}\n\n") {
        text.extend_from_slice(&within(secs(5), response.chunk()).await.unwrap().unwrap());
    }
    let frame = "event: message\nid: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n\n";
    assert_eq!(String::from_utf8(text).unwrap(), format!(": connected\n\n{frame}"));
}

/// acp-15: a comment every 15 s keeps a silent stream alive.
#[tokio::test]
async fn a_silent_stream_has_a_heartbeat() {
    let daemon = TestDaemon::start(TOMBOLO);
    daemon.post("/v1/acp/a?agent=mock", &request(1, "initialize")).await;
    let get = daemon.request(Method::GET, "/v1/acp/a").header("last-event-id", 1);
    let mut response = get.send().await.unwrap();
    assert_eq!(within(secs(5), response.chunk()).await.unwrap().unwrap(), ": connected\n\n");
    let started = std::time::Instant::now();
    assert_eq!(within(secs(20), response.chunk()).await.unwrap().unwrap(), ": heartbeat\n\n");
    assert!((14..17).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
}

/// acp-16: `Last-Event-ID`, as a header or in the query, replays what came after it.
#[tokio::test]
async fn what_came_after_an_id_is_replayed() {
    let daemon = TestDaemon::start(TOMBOLO);
    daemon.post("/v1/acp/a?agent=mock", &prompt(1, "/chunks 9")).await;
    async fn ids(mut events: EventStream, count: usize) -> Vec<u64> {
        let mut ids = Vec::new();
        while ids.len() < count {
            ids.push(within(secs(5), events.next()).await.unwrap().id.unwrap());
        }
        ids
    }
    assert_eq!(ids(daemon.events("a", Some(7)).await, 3).await, [8, 9, 10]);
    assert_eq!(ids(EventStream::new(daemon.get("/v1/acp/a?lastEventId=7").await), 3).await, [8, 9, 10]);
    assert_eq!(ids(daemon.events("a", Some(0)).await, 10).await, (1..=10).collect::<Vec<_>>());
    assert_eq!(ids(daemon.events("a", None).await, 10).await, (1..=10).collect::<Vec<_>>());
    // The header is the browser's own, and newer than the query of the first connection.
    let both = daemon
        .request(Method::GET, "/v1/acp/a?lastEventId=2")
        .header("last-event-id", 8)
        .send()
        .await
        .unwrap();
    assert_eq!(ids(EventStream::new(both), 2).await, [9, 10]);
    for bad in ["x", "-1", "1.5", "99999999999999999999"] {
        let get = daemon.request(Method::GET, "/v1/acp/a").header("last-event-id", bad);
        check_problem(&problem(get.send().await.unwrap()).await, 400, "urn:problem:invalid-request");
        check_problem(
            &problem(daemon.get(&format!("/v1/acp/a?lastEventId={bad}")).await).await,
            400,
            "urn:problem:invalid-request",
        );
    }
}

/// acp-16, acp-18: the ring is bounded in events and bytes, and what fell out of it is told as a gap.
#[tokio::test]
async fn what_fell_out_is_told_as_a_gap() {
    let daemon = TestDaemonOptions::default().arg("--events-max=10").start(TOMBOLO);
    daemon.post("/v1/acp/a?agent=mock", &prompt(1, "/chunks 99")).await;
    assert_eq!(daemon.instance("a").await["events"], json!({ "oldest": 91, "newest": 100 }));
    // From the past, and from the future.
    for last in [5, 4000] {
        let mut events = daemon.events("a", Some(last)).await;
        let gap = within(secs(5), events.next()).await.unwrap();
        assert_eq!((gap.event.as_str(), gap.id), ("gap", None));
        assert_eq!(serde_json::from_str::<Value>(&gap.data).unwrap(), json!({ "oldest": 91, "newest": 100 }));
        assert_eq!(within(secs(5), events.next()).await.unwrap().id, Some(91));
    }
    let mut events = daemon.events("a", Some(90)).await;
    assert_eq!(within(secs(5), events.next()).await.unwrap().id, Some(91), "nothing is missing here");

    let daemon = TestDaemonOptions::default().arg("--events-bytes-max=100000").start(TOMBOLO);
    daemon.post("/v1/acp/a?agent=mock", &prompt(1, "/updates 200 5000")).await;
    let kept = daemon.instance("a").await["events"].clone();
    let count = kept["newest"].as_u64().unwrap() - kept["oldest"].as_u64().unwrap() + 1;
    assert!((8..=20).contains(&count), "100 000 bytes are at most 20 events of 5 000: {kept}");
}

/// acp-17: a thousand reconnects under continuous output, no loss, no duplicate, no reordering.
#[tokio::test]
async fn reconnects_lose_and_double_nothing() {
    // Paced, so that a reader that is away for a moment does not fall out of the ring.
    let daemon = with_script(
        "import sys,time\nsys.stdin.readline()\nn=0\nwhile 1:\n n+=1\n sys.stdout.write('{\"method\":\"n\",\"params\":%d}\\n'%n)\n if n%20==0: sys.stdout.flush(); time.sleep(0.004)",
    );
    daemon.post("/v1/acp/a?agent=x", &json!({ "jsonrpc": "2.0", "method": "go" })).await;
    let mut last = 0;
    for turn in 0..1000u64 {
        let mut events = daemon.events("a", Some(last)).await;
        for _ in 0..(turn % 40 + 1) {
            let event = within(secs(10), events.next()).await.unwrap();
            assert_eq!(event.event, "message");
            assert_eq!(event.id, Some(last + 1));
            last += 1;
            assert_eq!(event.data, format!(r#"{{"method":"n","params":{last}}}"#));
        }
    }
}

/// acp-19: one reader that never reads among a hundred costs nobody anything, and is told the gap.
#[tokio::test(flavor = "multi_thread")]
async fn a_stuck_reader_slows_nobody() {
    const EVENTS: u64 = 30_000;
    let daemon = TestDaemon::start(TOMBOLO);
    daemon.post("/v1/acp/a?agent=mock", &request(1, "initialize")).await;
    let address = daemon.base().trim_start_matches("http://").to_owned();
    let mut stuck = TcpStream::connect(&address).await.unwrap();
    let head = format!("GET /v1/acp/a HTTP/1.1\r\nhost: {address}\r\nlast-event-id: 1\r\n\r\n");
    stuck.write_all(head.as_bytes()).await.unwrap();
    let mut readers = tokio::task::JoinSet::new();
    for _ in 0..99 {
        let get = daemon.request(Method::GET, "/v1/acp/a").header("last-event-id", 1);
        let mut response = get.send().await.unwrap();
        readers.spawn(async move { follow(&mut response, 2..=EVENTS + 2).await });
    }
    let flood = prompt(2, &format!("/updates {EVENTS} 300"));
    let answer = within(secs(120), daemon.post("/v1/acp/a", &flood)).await;
    assert_eq!(answer.status(), 200);
    within(secs(120), readers.join_all()).await;
    // It wakes up: what is left in the pipe, then the gap, then the end of the ring.
    let mut text = String::new();
    let mut buffer = vec![0; 1 << 20];
    within(secs(20), async {
        while !text.contains("end_turn") {
            let read = stuck.read(&mut buffer).await.unwrap();
            assert!(read > 0, "it was cut");
            text += &String::from_utf8_lossy(&buffer[..read]);
        }
    })
    .await;
    assert_eq!(text.matches("event: gap").count(), 1);
}

/// acp-19: a reader that keeps reading loses nothing, however small the ring.
#[tokio::test]
async fn a_moving_reader_loses_nothing_with_a_small_ring() {
    let daemon = TestDaemonOptions::default()
        .arg("--events-max=64")
        .agent("x", &["python3", "-c", ENDLESS])
        .start(TOMBOLO);
    let options = json!({ "agent": "x" });
    daemon.request(Method::PUT, "/v1/acp/a").json(&options).send().await.unwrap();
    let mut response = daemon.get("/v1/acp/a").await;
    daemon.post("/v1/acp/a", &json!({ "jsonrpc": "2.0", "method": "go" })).await;
    within(secs(60), follow(&mut response, 1..=200_000)).await;
}

/// Reads these messages and nothing else. Readers share the machine with the daemon: counting is all they can afford.
async fn follow(response: &mut reqwest::Response, ids: std::ops::RangeInclusive<u64>) {
    let (mut expected, last) = (*ids.start(), *ids.end());
    let mut tail = String::new();
    while expected <= last {
        let chunk = response.chunk().await.unwrap().unwrap();
        tail += std::str::from_utf8(&chunk).unwrap();
        let whole = tail.rfind("\n\n").map_or(0, |end| end + 2);
        for line in tail[..whole].lines() {
            assert_ne!(line, "event: gap", "before {expected}");
            if let Some(id) = line.strip_prefix("id: ") {
                assert_eq!(id, expected.to_string());
                expected += 1;
            }
        }
        tail.drain(..whole);
    }
}

/// acp-19: a reader that never reads is cut in the end, and the log says why.
#[tokio::test]
async fn a_reader_that_never_reads_is_cut() {
    let options = TestDaemonOptions::default().arg("--stall-timeout=300ms").arg("--log=debug");
    let daemon = options.agent("x", &["python3", "-c", ENDLESS]).start(TOMBOLO);
    daemon.post("/v1/acp/a?agent=x", &json!({ "jsonrpc": "2.0", "method": "go" })).await;
    let address = daemon.base().trim_start_matches("http://").to_owned();
    let mut stuck = TcpStream::connect(&address).await.unwrap();
    let head = format!("GET /v1/acp/a HTTP/1.1\r\nhost: {address}\r\n\r\n");
    stuck.write_all(head.as_bytes()).await.unwrap();
    within(secs(20), async {
        let mut seen = false;
        loop {
            let readers = daemon.instance("a").await["subscribers"].as_u64().unwrap();
            seen |= readers == 1;
            if seen && readers == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    daemon.signal("TERM");
    let (code, log) = daemon.wait_for_exit();
    assert_eq!(code, Some(0));
    assert!(log.contains("the client read nothing"), "{log}");
}

/// acp-20: control events carry no id, and messages are only what the agent said.
#[tokio::test]
async fn control_events_carry_no_id() {
    let daemon = TestDaemonOptions::default().arg("--events-max=8").start(TOMBOLO);
    daemon.post("/v1/acp/a?agent=mock", &prompt(1, "/chunks 20\n/garbage")).await;
    daemon.post("/v1/acp/a", &prompt(2, "/crash 1")).await;
    let events = within(secs(5), daemon.events("a", Some(1)).await.rest()).await;
    let mut kinds = BTreeMap::new();
    for event in &events {
        *kinds.entry(event.event.as_str()).or_insert(0) += 1;
        assert_eq!(event.id.is_some(), event.event == "message", "{event:?}");
        let data: Value = serde_json::from_str(&event.data).unwrap();
        assert_eq!(data["jsonrpc"] == "2.0", event.event == "message");
    }
    assert_eq!((kinds["gap"], kinds["unparsed"], kinds["exited"]), (1, 5, 1), "{events:?}");
}

/// acp-21: deleting while a prompt runs ends the stream with `exited` and the prompt with 502.
#[tokio::test]
async fn deleting_in_mid_prompt_tells_everybody() {
    let daemon = TestDaemon::start(TOMBOLO);
    daemon.post("/v1/acp/a?agent=mock", &request(1, "initialize")).await;
    let mut events = daemon.events("a", Some(1)).await;
    let hanging =
        tokio::spawn(daemon.request(Method::POST, "/v1/acp/a").json(&prompt(2, "hi\n/hang")).send());
    within(secs(5), events.next_of("message")).await;
    assert_eq!(daemon.delete("/v1/acp/a").await.status(), 204);
    let rest = within(secs(5), events.rest()).await;
    assert_eq!(rest.last().unwrap().event, "exited");
    check_problem(&problem(hanging.await.unwrap().unwrap()).await, 502, "urn:problem:agent-exited");
    check_problem(&problem(daemon.get("/v1/acp/a").await).await, 404, "urn:problem:instance-not-found");
}
