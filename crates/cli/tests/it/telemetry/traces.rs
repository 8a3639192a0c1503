//! Spans, as a collector gets them.

use std::net::TcpListener;

use super::{collector::Collector, *};

/// A trace that somebody else began, and their span in it.
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// issue 5, 8: a request through the hub is one trace: the client's, the hub's, the way between, and the daemon's.
#[tokio::test]
async fn one_trace_holds_both_sides() {
    let collector = Collector::start().await;
    let endpoint = &collector.endpoint;
    let key = "x-key=a-key-of-the-collector";
    let hub = TestHubOptions::default().env("TOMBOLO_LOG", "debug").arg("--otlp-endpoint").arg(endpoint);
    let (daemon, mut hub) = both(
        daemon().env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint).env("TOMBOLO_LOG", "debug"),
        hub.env("OTEL_EXPORTER_OTLP_HEADERS", key),
    )
    .await;
    let secret = "/api/runtimes/box/v1/fs/entries?path=/a-secret-path";
    hub.request(Method::GET, secret).send().await.unwrap();
    let request = hub.request(Method::GET, "/api/runtimes/box/v1/sessions/none");
    let answer = request.header("traceparent", format!("00-{TRACE}-{PARENT}-01")).send().await.unwrap();
    assert_eq!(answer.status(), 404);
    let theirs = collector.span("tombolo-daemon", "GET /v1/sessions/{id}").await;
    let between = collector.find("tombolo-hub", |span| span.span_id == theirs.parent_span_id).await;
    let ours = collector.find("tombolo-hub", |span| span.span_id == between.parent_span_id).await;
    assert_eq!((&*between.name, &*ours.name), ("forward", "GET /api/runtimes/{runtime_id}/v1/{*path}"));
    assert_eq!(hex(&ours.parent_span_id), PARENT);
    for span in [&theirs, &between, &ours] {
        assert_eq!(hex(&span.trace_id), TRACE);
    }
    // A turn is a span too.
    create(&daemon, "talker").await;
    send(&daemon, "talker", "hello").await;
    let turn = collector.span("tombolo-daemon", "turn").await;
    assert!(format!("{turn:?}").contains("talker"), "{turn:?}");
    assert!(hub.terminate());
    daemon.signal("TERM");
    let said = [collector.everything(), hub.log(), daemon.wait_for_exit().1].concat();
    for secret in [TOKEN, hub.token(), "a-secret-path", "a-key-of-the-collector"] {
        assert!(!said.contains(secret), "`{secret}` was told");
    }
    assert!(collector.header("x-key").contains(&"a-key-of-the-collector".into()));
}

/// issue 5, 8: a collector that never answers stops nothing: neither requests, more of them than spans can wait, nor the end.
#[tokio::test]
async fn a_collector_that_hangs_is_not_waited_for() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    let daemon = daemon().arg("--otlp-endpoint").arg(endpoint).start(TOMBOLO);
    for _ in 0..3000 {
        let answer = daemon.request(Method::GET, "/v1/acp").bearer_auth(TOKEN).send();
        assert_eq!(within(secs(10), answer).await.unwrap().status(), 200);
    }
    daemon.signal("TERM");
    assert_eq!(daemon.wait_for_exit().0, Some(0));
}

/// issue 5, 8: what is no address of a collector is refused at the start.
#[test]
fn a_senseless_collector_is_refused() {
    for role in ["daemon", "hub", "up"] {
        let output = std::process::Command::new(TOMBOLO)
            .args([role, "--port", "0", "--otlp-endpoint", "nowhere"])
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains("not the address of a collector"), "{said}");
    }
}
