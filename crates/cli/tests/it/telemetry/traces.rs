//! Spans, as a collector gets them.

use std::net::TcpListener;

use opentelemetry_proto::tonic::trace::v1::{Span, status::StatusCode};

use super::{
    collector::{Collector, attribute},
    *,
};

/// A trace that somebody else began, and their span in it.
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn of(span: &Span, name: &str) -> Option<String> {
    attribute(&span.attributes, name)
}

fn is_failed(span: &Span) -> bool {
    span.status.as_ref().is_some_and(|status| status.code() == StatusCode::Error)
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
    let attributes = |span: &Span| {
        let names = ["http.request.method", "http.route", "http.response.status_code", "url.path"];
        names.map(|name| of(span, name).unwrap_or_default())
    };
    let path = "/v1/sessions/none";
    assert_eq!(attributes(&theirs), ["GET", "/v1/sessions/{id}", "IntValue(404)", path]);
    assert_eq!(attributes(&between), ["GET", "", "IntValue(404)", path]);
    let (route, path) = ("/api/runtimes/{runtime_id}/v1/{*path}", "/api/runtimes/box/v1/sessions/none");
    assert_eq!(attributes(&ours), ["GET", route, "IntValue(404)", path]);
    // For the hub as a client, the 404 is an error; for the servers it is the client's.
    assert_eq!([&theirs, &between, &ours].map(is_failed), [false, true, false]);
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

/// issue 17, 3: a request to a runtime that is down is an error where it failed and where that was answered.
#[tokio::test]
async fn a_failed_request_is_a_failed_span() {
    let collector = Collector::start().await;
    let hub =
        TestHubOptions::default().env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.endpoint).start(TOMBOLO);
    hub.add_runtime("down", "http://127.0.0.1:9", None).await;
    let answer = hub.request(Method::GET, "/api/runtimes/down/v1/health").send().await.unwrap();
    assert_eq!(answer.status(), 502);
    let forward = collector.span("tombolo-hub", "forward").await;
    let request = collector.find("tombolo-hub", |span| span.span_id == forward.parent_span_id).await;
    assert!(is_failed(&forward) && is_failed(&request), "{forward:?} {request:?}");
    assert_eq!(of(&forward, "error.type").as_deref(), Some("unreachable"));
    assert_eq!(of(&request, "error.type").as_deref(), Some("502"));
    assert_eq!(of(&request, "http.response.status_code").as_deref(), Some("IntValue(502)"));
    // Clients can invent methods and paths, so the name of a span has neither.
    let invented = Method::from_bytes(b"BREW").unwrap();
    hub.request(invented, "/no/such/path").send().await.unwrap();
    let span = collector.span("tombolo-hub", "_OTHER").await;
    assert_eq!((of(&span, "http.route"), of(&span, "url.path").as_deref()), (None, Some("/no/such/path")));
}

/// issue 17, 3: a turn is linked to the requests whose messages it answers, also if one of them was sent while it ran.
#[tokio::test]
async fn a_turn_is_linked_to_the_request_that_caused_it() {
    let collector = Collector::start().await;
    let daemon = daemon().env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.endpoint).start(TOMBOLO);
    create(&daemon, "talker").await;
    let request = daemon.request(Method::POST, "/v1/sessions/talker/messages").bearer_auth(TOKEN);
    let request = request.header("traceparent", format!("00-{TRACE}-{PARENT}-01"));
    request.json(&json!({ "message": "hello" })).send().await.unwrap();
    let turn = collector.span("tombolo-daemon", "turn").await;
    let sent = collector.span("tombolo-daemon", "POST /v1/sessions/{id}/messages").await;
    let linked: Vec<_> = turn.links.iter().map(|link| (hex(&link.trace_id), hex(&link.span_id))).collect();
    assert_eq!(linked, [(TRACE.to_owned(), hex(&sent.span_id))]);
    assert_ne!(turn.trace_id, sent.trace_id);
    assert!(!is_failed(&turn));
    send(&daemon, "talker", "/crash 3").await;
    let failed = collector.find("tombolo-daemon", |span| span.name == "turn" && is_failed(span)).await;
    assert_eq!(failed.links.len(), 1);
}

/// issue 17, 3: the standard variables name the service, its attributes and the collector, and choose what is sampled.
#[tokio::test(flavor = "multi_thread")]
async fn the_standard_variables_are_honoured() {
    let (collector, general) = (Collector::start().await, Collector::start().await);
    let daemon = daemon()
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &general.endpoint)
        .env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &format!("{}/spans", collector.endpoint))
        .env("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-key=mine")
        .env("OTEL_SERVICE_NAME", "my-daemon")
        .env("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,deployment.environment.name=a%20test")
        .env("OTEL_TRACES_SAMPLER", "parentbased_always_off")
        .start(TOMBOLO);
    let health = || daemon.request(Method::GET, "/v1/health");
    health().send().await.unwrap();
    let traceparent = format!("00-{TRACE}-{PARENT}-01");
    daemon.request(Method::GET, "/").header("traceparent", traceparent).send().await.unwrap();
    health().send().await.unwrap();
    daemon.signal("TERM");
    // The daemon sends the last spans before it exits; another thread answers it meanwhile.
    daemon.wait_for_exit();
    assert_eq!(collector.names(), ["GET /"]);
    assert_eq!(general.names(), [""; 0]);
    assert_eq!(collector.header("x-key"), ["mine"]);
    let resource = collector.resource();
    for (name, value) in [
        ("service.name", "my-daemon"),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("deployment.environment.name", "a test"),
        ("telemetry.sdk.language", "rust"),
    ] {
        assert_eq!(attribute(&resource, name).as_deref(), Some(value), "{name}");
    }
}

/// issue 17, 3: what switches OpenTelemetry off does.
#[tokio::test(flavor = "multi_thread")]
async fn traces_can_be_switched_off() {
    for (name, value) in [("OTEL_SDK_DISABLED", "True"), ("OTEL_TRACES_EXPORTER", "none")] {
        let collector = Collector::start().await;
        let endpoint = &collector.endpoint;
        let daemon = daemon().env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint).env(name, value).start(TOMBOLO);
        daemon.request(Method::GET, "/v1/health").send().await.unwrap();
        daemon.signal("TERM");
        // A daemon sends the last spans before it exits.
        assert_eq!(daemon.wait_for_exit().0, Some(0));
        assert_eq!(collector.names(), [""; 0], "{name}");
    }
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
