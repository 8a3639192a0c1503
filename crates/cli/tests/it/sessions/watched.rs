//! A session as a backend watches it, over a real WebSocket.

use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{self, Message, client::IntoClientRequest, protocol::CloseFrame},
};

use testkit::TestDaemonOptions;

use super::*;

/// How often somebody comes while much happens.
const COMINGS: usize = 1000;

type Socket = WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>;

/// A backend that watches.
struct Backend(Socket);

impl Backend {
    async fn new(daemon: &TestDaemon, id: &str, cursor: Option<&str>) -> Self {
        let query = cursor.map(|cursor| format!("?cursor={cursor}")).unwrap_or_default();
        let base = daemon.base().replace("http", "ws");
        Self(connect_async(format!("{base}/v1/workers/{id}/events/ws{query}")).await.unwrap().0)
    }

    /// The next frame, or how it was closed.
    async fn next(&mut self) -> Result<Value, Option<CloseFrame>> {
        within(secs(20), async {
            loop {
                match self.0.next().await.expect("a close frame comes first").unwrap() {
                    Message::Text(text) => return Ok(serde_json::from_str(&text).unwrap()),
                    Message::Close(close) => return Err(close),
                    Message::Ping(_) | Message::Pong(_) => {}
                    other => panic!("{other:?}"),
                }
            }
        })
        .await
    }

    async fn snapshot(&mut self) -> Value {
        let frame = self.next().await.unwrap();
        assert!(frame["envelope"]["payload"]["snapshot"].is_object(), "{frame}");
        frame["envelope"].clone()
    }

    async fn control(&mut self) -> Value {
        self.next().await.unwrap()["control"].clone()
    }

    /// The envelopes up to an event of this kind.
    async fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            let frame = self.next().await.unwrap();
            assert_eq!(frame["kind"], "event", "{frame}");
            let over = frame["envelope"]["payload"].get(kind).is_some();
            seen.push(frame["envelope"].clone());
            if over {
                return seen;
            }
        }
    }

    /// What is wrong, and how the stream is closed for it.
    async fn refused(&mut self) -> (String, u16) {
        let frame = self.next().await.unwrap();
        let code = frame["diagnostic"]["code"].as_str().unwrap_or_else(|| panic!("{frame}")).to_owned();
        let close = self.next().await.unwrap_err().unwrap();
        assert_eq!(close.reason.as_str(), code);
        (code, close.code.into())
    }
}

/// The place of an envelope.
fn seq(envelope: &Value) -> u64 {
    envelope["cursor"].as_str().unwrap().rsplit('-').next().unwrap().parse().unwrap()
}

fn payloads(envelopes: &[Value]) -> Vec<Value> {
    envelopes.iter().map(|envelope| envelope["payload"].clone()).collect()
}

/// observation-11, observation-13, observation-14, observation-19, observation-23, observation-26: the snapshot, then every event of this worker and of no other, as it is.
#[tokio::test]
async fn the_snapshot_comes_first_and_then_what_happens() {
    let daemon = TestDaemon::start(TOMBOLO);
    for id in ["s", "other"] {
        create(&daemon, id).await;
        turn(&daemon, id, "hello").await;
    }
    let mut backend = Backend::new(&daemon, "s", None).await;
    let snapshot = backend.snapshot().await;
    assert_eq!(snapshot["event_id"], json!(format!("snapshot:{}", snapshot["cursor"].as_str().unwrap())));
    assert_eq!(snapshot["worker_id"], "s");
    // observation-21: it is what there is, not an empty one.
    assert_eq!(snapshot["payload"]["snapshot"], get(&daemon, &path("s", "/snapshot")).await);
    assert_eq!(snapshot["payload"]["snapshot"]["messages"].as_array().unwrap().len(), 2);
    assert_eq!(backend.control().await["type"], "live");
    let (_, told) = tokio::join!(turn(&daemon, "other", "not for you"), turn(&daemon, "s", "/tool"));
    let seen = backend.until("turnEnded").await;
    assert_eq!(payloads(&seen), told.iter().map(|record| record["event"].clone()).collect::<Vec<_>>());
    for (envelope, record) in seen.iter().zip(&told) {
        assert_eq!(envelope["event_id"], envelope["cursor"]);
        assert_eq!((&envelope["worker_id"], &envelope["time"]), (&json!("s"), &record["time"]));
        assert_eq!(seq(envelope), record["seq"].as_u64().unwrap());
    }
    // The end of the session is the end of the stream.
    assert_eq!(daemon.delete(&path("s", "")).await.status(), 204);
    backend.until("ended").await;
    assert_eq!(u16::from(backend.next().await.unwrap_err().unwrap().code), 1000);
}

/// observation-27, observation-32, observation-51, observation-60: after a cursor comes what was missed, marked as what the snapshot covers.
#[tokio::test]
async fn a_cursor_goes_on() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let mut backend = Backend::new(&daemon, "s", None).await;
    let first = backend.snapshot().await;
    backend.control().await;
    turn(&daemon, "s", "one").await;
    let seen = backend.until("turnEnded").await;
    let (middle, newest) = (&seen[2], seq(seen.last().unwrap()));
    let mut backend = Backend::new(&daemon, "s", middle["cursor"].as_str()).await;
    assert!(seq(&backend.snapshot().await) >= newest);
    assert_eq!(backend.control().await, json!({ "type": "resumed", "resume": "ok" }));
    let again = backend.until("turnEnded").await;
    assert_eq!(payloads(&again), payloads(&seen[3..]));
    assert!(again.iter().all(|envelope| envelope["replay"] == true));
    // observation-52: they are known by their ids.
    assert_eq!(again[0]["event_id"], seen[3]["event_id"]);
    // What else happened by then.
    let mut frame = backend.next().await.unwrap();
    while frame["kind"] == "event" {
        assert_eq!(frame["envelope"]["replay"], true);
        frame = backend.next().await.unwrap();
    }
    assert_eq!(frame["control"]["type"], "live");
    turn(&daemon, "s", "two").await;
    assert!(backend.until("turnEnded").await.iter().all(|envelope| envelope.get("replay").is_none()));
    // A cursor survives the daemon (observation-62).
    let mut daemon = daemon;
    daemon.kill_and_restart();
    let mut backend = Backend::new(&daemon, "s", first["cursor"].as_str()).await;
    backend.snapshot().await;
    assert_eq!(backend.control().await["resume"], "ok");
    assert_eq!(payloads(&backend.until("turnEnded").await[..seen.len()]), payloads(&seen));
}

/// observation-55, observation-59, observation-63, observation-66: what is wrong with a cursor is told, each in its own way; nothing else is sent.
#[tokio::test]
async fn a_cursor_that_is_none_is_told() {
    let daemon = TestDaemon::start(TOMBOLO);
    for id in ["s", "other"] {
        create(&daemon, id).await;
    }
    let cursor = |envelope: &Value| envelope["cursor"].as_str().unwrap().to_owned();
    let own = cursor(&Backend::new(&daemon, "s", None).await.snapshot().await);
    let others = cursor(&Backend::new(&daemon, "other", None).await.snapshot().await);
    let (epoch, _) = own.split_once('-').unwrap();
    for (cursor, code) in [
        ("garbage", "runtime.cursor_malformed"),
        (&format!("{epoch}-x"), "runtime.cursor_malformed"),
        (&others, "runtime.cursor_unknown"),
        (&format!("{epoch}-999999"), "runtime.cursor_unknown"),
    ] {
        let refused = Backend::new(&daemon, "s", Some(cursor)).await.refused().await;
        assert_eq!(refused, (code.to_owned(), 1008), "{cursor}");
    }
    // observation-56: more than is kept for whoever comes back.
    turn(&daemon, "s", "/chunks 1100").await;
    let refused = Backend::new(&daemon, "s", Some(&own)).await.refused().await;
    assert_eq!(refused, ("runtime.cursor_expired".to_owned(), 1008));
}

/// observation-16: "any text or binary frame from the peer is answered by an observation-only diagnostic".
#[tokio::test]
async fn nothing_can_be_said() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let command = r#"{"kind":"event","envelope":{}}"#;
    for message in [Message::text(command), Message::binary(command.as_bytes().to_vec())] {
        let mut backend = Backend::new(&daemon, "s", None).await;
        backend.snapshot().await;
        backend.control().await;
        // What is no message is honoured.
        backend.0.send(Message::Ping("there?".into())).await.unwrap();
        let pong = within(secs(5), backend.0.next()).await.unwrap().unwrap();
        assert_eq!(pong, Message::Pong("there?".into()));
        backend.0.send(message).await.unwrap();
        assert_eq!(backend.refused().await, ("runtime.observation_only".to_owned(), 1008));
    }
    assert_eq!(get(&daemon, &path("s", "")).await["state"], "idle");
    // observation-3: commands use HTTP.
    turn(&daemon, "s", "hello").await;
}

/// observation-22: who may not watch, and what there is not, is told before there is a WebSocket.
#[tokio::test]
async fn what_cannot_be_watched_is_a_problem() {
    let daemon = TestDaemon::start(TOMBOLO);
    let base = daemon.base().replace("http", "ws");
    let refused = connect_async(format!("{base}/v1/workers/none/events/ws")).await.unwrap_err();
    let tungstenite::Error::Http(response) = refused else { panic!("{refused}") };
    assert_eq!(response.status(), 404);
    let plain = daemon.get("/v1/workers/none/events/ws").await;
    assert_eq!(plain.status(), 404);
    create(&daemon, "s").await;
    assert_eq!(daemon.get("/v1/workers/s/events/ws").await.status(), 426);
}

/// How an attempt to open a WebSocket with these headers is answered.
async fn upgrade(daemon: &TestDaemon, path: &str, headers: &[(&'static str, &str)]) -> u16 {
    let mut request = format!("{}{path}", daemon.base().replace("http", "ws")).into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    match connect_async(request).await {
        Ok((_, response)) => response.status().as_u16(),
        Err(tungstenite::Error::Http(response)) => response.status().as_u16(),
        Err(error) => panic!("{error}"),
    }
}

/// observation-6, observation-22: the stream is for a backend that holds the daemon's token. Without it nothing is upgraded, and no
/// answer says which workers exist; a page of another site is refused even with it.
#[tokio::test]
async fn the_stream_needs_the_token() {
    let daemon = TestDaemonOptions::default().env("TOMBOLO_TOKEN", "right-token").start(TOMBOLO);
    let right = ("authorization", "Bearer right-token");
    let created = daemon.request(reqwest::Method::POST, "/v1/sessions/s").bearer_auth("right-token");
    let created = created.json(&json!({ "agent": "mock" })).send().await.unwrap();
    assert!(created.status().is_success());
    for worker in ["s", "none"] {
        let path = format!("/v1/workers/{worker}/events/ws");
        for headers in [
            &[][..],
            &[("authorization", "Bearer wrong-token")],
            &[("authorization", "Basic cmlnaHQtdG9rZW4=")],
            &[("cookie", "token=right-token")],
            &[("sec-websocket-protocol", "tombolo.token.wrong-token")],
        ] {
            assert_eq!(upgrade(&daemon, &path, headers).await, 401, "{path} {headers:?}");
        }
        assert_eq!(
            upgrade(&daemon, &format!("{path}?token=right-token"), &[]).await,
            401,
            "a URL holds no secret"
        );
    }
    let path = "/v1/workers/s/events/ws";
    assert_eq!(upgrade(&daemon, path, &[right, ("origin", "https://site.example")]).await, 403);
    assert_eq!(upgrade(&daemon, path, &[right]).await, 101);
    assert_eq!(upgrade(&daemon, "/v1/workers/none/events/ws", &[right]).await, 404);
}

/// observation-8, observation-12: there is a stream of one worker and none of a whole runtime; but ids are unique across the workers, so
/// that one can be added.
#[tokio::test]
async fn ids_are_unique_across_workers() {
    let daemon = TestDaemon::start(TOMBOLO);
    let document = get(&daemon, "/v1/openapi.json").await;
    let paths = document["paths"].as_object().unwrap().keys();
    let of_workers: Vec<_> = paths.filter(|path| path.contains("worker")).collect();
    assert_eq!(of_workers, ["/v1/workers/{worker_id}/events/ws"]);
    let mut ids = std::collections::HashSet::new();
    let mut events = 0;
    for id in ["a", "b", "c"] {
        create(&daemon, id).await;
        let mut backend = Backend::new(&daemon, id, None).await;
        let snapshot = backend.snapshot().await;
        backend.control().await;
        turn(&daemon, id, "hello").await;
        for envelope in [vec![snapshot], backend.until("turnEnded").await].concat() {
            ids.insert(envelope["event_id"].as_str().unwrap().to_owned());
            events += 1;
        }
    }
    assert!(events > 12, "{events}");
    assert_eq!(ids.len(), events);
}

/// observation-17: requests that only read or are refused put nothing on the stream: it has what the journal has, and no replies.
#[tokio::test]
async fn replies_are_no_events() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let mut backend = Backend::new(&daemon, "s", None).await;
    let covered = seq(&backend.snapshot().await);
    backend.control().await;
    for route in ["", "/snapshot", "/messages", "/events", "/inputs"] {
        get(&daemon, &path("s", route)).await;
    }
    assert_eq!(daemon.post(&path("s", "/messages"), &json!({ "nonsense": 1 })).await.status(), 400);
    assert_eq!(daemon.put(&path("s", "/inputs/nonsense"), &json!({ "message": "x" })).await.status(), 400);
    let told = turn(&daemon, "s", "hello").await;
    let seen = backend.until("turnEnded").await;
    assert_eq!(seq(&seen[0]), covered + 1);
    assert_eq!(payloads(&seen), told.iter().map(|record| record["event"].clone()).collect::<Vec<_>>());
}

/// observation-57: the transcript is polled with its own offsets and the stream has its own cursors; neither takes the other's, and
/// neither route does the work of the other.
#[tokio::test]
async fn polling_and_the_stream_are_separate() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    turn(&daemon, "s", "hello").await;
    let cursor =
        Backend::new(&daemon, "s", None).await.snapshot().await["cursor"].as_str().unwrap().to_owned();
    for route in ["/messages", "/events", "/snapshot"] {
        assert_ne!(upgrade(&daemon, &path("s", route), &[]).await, 101, "{route}");
    }
    for query in ["/messages?cursor", "/events?offset", "/events?cursor"] {
        let polled = daemon.get(&path("s", &format!("{query}={cursor}"))).await;
        assert_eq!(polled.status(), 400, "{query}");
    }
    assert_eq!(daemon.get("/v1/workers/s/events/ws?offset=1").await.status(), 400);
    let refused = Backend::new(&daemon, "s", Some("3")).await.refused().await;
    assert_eq!(refused, ("runtime.cursor_malformed".to_owned(), 1008));
}

/// observation-55, observation-64: a worker whose events cannot be read is unavailable, and the client is told to try again later.
#[tokio::test]
async fn a_worker_that_cannot_be_read_is_unavailable() {
    let mut daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let mut backend = Backend::new(&daemon, "s", None).await;
    let begun = backend.snapshot().await;
    backend.control().await;
    turn(&daemon, "s", "hello").await;
    let seen = backend.until("turnEnded").await;
    let database =
        rusqlite::Connection::open(daemon.home().join(".local/share/tombolo/sessions/sessions.db")).unwrap();
    let lost = seq(&seen[1]);
    assert_eq!(database.execute("DELETE FROM events WHERE seq = ?1", [lost.cast_signed()]).unwrap(), 1);
    drop(database);
    // The daemon has the newest events in memory as well.
    daemon.kill_and_restart();
    let mut backend = Backend::new(&daemon, "s", begun["cursor"].as_str()).await;
    backend.snapshot().await;
    let end = loop {
        let frame = backend.next().await.unwrap();
        if frame["kind"] == "diagnostic" {
            break frame;
        }
    };
    assert_eq!(end["diagnostic"]["code"], "runtime.worker_unavailable");
    let close = backend.next().await.unwrap_err().unwrap();
    assert_eq!((u16::from(close.code), close.reason.as_str()), (1013, "runtime.worker_unavailable"));
}

/// observation-20: whoever comes while much happens misses nothing between the snapshot and what follows.
#[tokio::test]
async fn nothing_falls_between_the_snapshot_and_what_follows() {
    let daemon = TestDaemon::start(TOMBOLO);
    create(&daemon, "s").await;
    let mut followed = Followed::new(&daemon, "s", 0).await;
    send(&daemon, "s", "/drip 20000 1").await;
    followed.until("turnStarted").await;
    for _ in 0..COMINGS {
        let mut backend = Backend::new(&daemon, "s", None).await;
        let covered = seq(&backend.snapshot().await);
        assert_eq!(backend.control().await["type"], "live");
        for next in 1..=2 {
            let frame = backend.next().await.unwrap();
            assert_eq!(seq(&frame["envelope"]), covered + next);
        }
    }
}
