//! Both ends of a tunnel, over WebSockets in memory.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

use std::{convert::Infallible, time::Duration};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::ws::{Message, WebSocketUpgrade},
    http::{HeaderMap, Request, Response, StatusCode, header},
    routing::{get, post},
};
use futures_util::{SinkExt, StreamExt, stream};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{self, protocol::Role},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tunnel::{Lost, Tunnel};
use websocket::KeepAlive;

/// More than may be on its way in one stream.
const LARGE: usize = 1 << 20;

/// A tunnel to what answers in this test.
async fn tunnel(tasks: &TaskTracker) -> (Tunnel, CancellationToken) {
    let router = Router::new()
        .route("/host", get(|headers: HeaderMap| async move { format!("{:?}", headers[header::HOST]) }))
        .route("/echo", post(|body: Body| async { body }))
        .route(
            "/large",
            get(|| async {
                Body::from_stream(stream::repeat(Ok::<_, Infallible>(vec![1; 4096])).take(LARGE / 4096))
            }),
        )
        .route(
            "/endless",
            get(|| async { Body::from_stream(stream::pending::<Result<Vec<u8>, Infallible>>()) }),
        )
        .route("/ws", get(|upgrade: WebSocketUpgrade| async { upgrade.on_upgrade(shout) }));
    let (near, their_near) = tunnel::pipe();
    let (far, their_far) = tunnel::pipe();
    let (here, there) = wire(their_near, their_far).await;
    let stop = CancellationToken::new();
    tasks.spawn(here);
    tasks.spawn(there);
    tasks.spawn(tunnel::serve(far, router, stop.clone()));
    let (tunnel, driving) = Tunnel::open(near, tasks.clone()).await.unwrap();
    tasks.spawn(driving);
    // What the other end can do is known with its first answer.
    assert_eq!(text(tunnel.send(ask("/host")).await.unwrap()).await, "\"localhost\"");
    (tunnel, stop)
}

/// What carries between two pipes over a WebSocket.
async fn wire(
    near: DuplexStream,
    far: DuplexStream,
) -> (impl Future<Output = ()> + Send, impl Future<Output = ()> + Send) {
    let (one, two) = tokio::io::duplex(4096);
    let one = WebSocketStream::from_raw_socket(one, Role::Server, None).await;
    let two = WebSocketStream::from_raw_socket(two, Role::Client, None).await;
    (tunnel::carry(one, near, KeepAlive::default()), tunnel::carry(two, far, KeepAlive::default()))
}

/// Says everything louder.
async fn shout(mut socket: axum::extract::ws::WebSocket) {
    while let Some(Ok(Message::Text(text))) = socket.next().await {
        socket.send(Message::Text(text.to_uppercase().into())).await.unwrap();
    }
}

fn ask(path: &str) -> Request<Body> {
    Request::get(path).body(Body::empty()).unwrap()
}

async fn text(response: Response<Body>) -> String {
    assert_eq!(response.status(), StatusCode::OK);
    String::from_utf8(to_bytes(response.into_body(), LARGE).await.unwrap().into()).unwrap()
}

#[tokio::test]
async fn requests_pass_in_both_directions() {
    let tasks = TaskTracker::new();
    let (tunnel, _stop) = tunnel(&tasks).await;
    let said = "x".repeat(LARGE);
    let request = Request::post("/echo?a=b").body(Body::from(said.clone())).unwrap();
    assert_eq!(text(tunnel.send(request).await.unwrap()).await, said);
    assert_eq!(tunnel.send(ask("/none")).await.unwrap().status(), StatusCode::NOT_FOUND);
}

/// As many as fit on the connection are not read, and another is answered.
#[tokio::test]
async fn streams_that_nobody_reads_stop_no_other() {
    let tasks = TaskTracker::new();
    let (tunnel, _stop) = tunnel(&tasks).await;
    let mut unread = Vec::new();
    for _ in 0..64 {
        unread.push(tunnel.send(ask("/large")).await.unwrap());
    }
    assert_eq!(text(tunnel.send(ask("/host")).await.unwrap()).await, "\"localhost\"");
    for response in unread {
        assert_eq!(text(response).await.len(), LARGE);
    }
}

/// More than may be asked at a time is told, and can be once something else is over.
#[tokio::test]
async fn too_much_at_a_time_is_told() {
    let tasks = TaskTracker::new();
    let (tunnel, _stop) = tunnel(&tasks).await;
    let mut open = Vec::new();
    let busy = loop {
        match tunnel.send(ask("/endless")).await {
            Ok(response) => open.push(response),
            Err(error) => break error,
        }
    };
    assert!(matches!(busy, Lost::Busy) && open.len() == 1024, "{busy} after {}", open.len());
    open.pop();
    assert_eq!(text(tunnel.send(ask("/host")).await.unwrap()).await, "\"localhost\"");
}

#[tokio::test]
async fn a_websocket_passes_as_if_there_was_no_tunnel() {
    let tasks = TaskTracker::new();
    let (tunnel, _stop) = tunnel(&tasks).await;
    let upgrade = |path: &str| {
        let mut request = ask(path);
        for (name, value) in [
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ] {
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        request
    };
    let response = tunnel.send(upgrade("/ws")).await.unwrap();
    assert_eq!(response.status(), StatusCode::SWITCHING_PROTOCOLS);
    assert_eq!(response.headers()[header::SEC_WEBSOCKET_ACCEPT], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    let upgraded = TokioIo::new(hyper::upgrade::on(response).await.unwrap());
    let mut socket = WebSocketStream::from_raw_socket(upgraded, Role::Client, None).await;
    socket.send(tungstenite::Message::text("hello")).await.unwrap();
    assert_eq!(socket.next().await.unwrap().unwrap().into_text().unwrap(), "HELLO");
    // What is no WebSocket is not taken for one.
    for (path, status) in [("/host", StatusCode::UPGRADE_REQUIRED), ("/none", StatusCode::NOT_FOUND)] {
        assert_eq!(tunnel.send(upgrade(path)).await.unwrap().status(), status, "{path}");
    }
}

/// Who asks is told when the other end leaves.
#[tokio::test]
async fn a_tunnel_that_ends_answers_nobody() {
    let tasks = TaskTracker::new();
    let (tunnel, stop) = tunnel(&tasks).await;
    stop.cancel();
    tasks.close();
    drop(tunnel.send(ask("/host")).await);
    tasks.wait().await;
    assert!(tunnel.send(ask("/host")).await.is_err());
}

/// An end that gives no sign of life is lost; one of which only nothing else is heard is not.
#[tokio::test(start_paused = true)]
async fn silence_is_not_the_same_as_nothing_new() {
    let KeepAlive { ping_interval, idle_timeout } = KeepAlive::default();
    for (signs, expected) in [(0, idle_timeout), (5, ping_interval * 5 + idle_timeout)] {
        let (one, two) = tokio::io::duplex(4096);
        let one = WebSocketStream::from_raw_socket(one, Role::Server, None).await;
        let mut two = WebSocketStream::from_raw_socket(two, Role::Client, None).await;
        let (_pipe, end) = tunnel::pipe();
        let started = tokio::time::Instant::now();
        let other = async {
            for _ in 0..signs {
                tokio::time::sleep(ping_interval).await;
                two.send(tungstenite::Message::Ping(Vec::new().into())).await.unwrap();
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = tunnel::carry(one, end, KeepAlive::default()) => {}
            () = other => {}
        }
        let took = started.elapsed();
        assert!(took >= expected && took < expected + Duration::from_secs(2), "{signs}: {took:?}");
    }
}

/// Bytes come out as they went in, however they are cut into messages.
#[tokio::test]
async fn a_websocket_is_a_pipe() {
    let (mut near, their_near) = tunnel::pipe();
    let (mut far, their_far) = tunnel::pipe();
    let (here, there) = wire(their_near, their_far).await;
    let said: Vec<u8> = (0..LARGE).map(|at| (at * 31) as u8).collect();
    let talk = async {
        let (sent, heard) = tokio::join!(
            async {
                near.write_all(&said).await.unwrap();
                near.shutdown().await.unwrap();
            },
            async {
                let mut heard = Vec::new();
                far.read_to_end(&mut heard).await.unwrap();
                heard
            }
        );
        let () = sent;
        heard
    };
    let carrying = async { tokio::join!(here, there) };
    let (heard, _) = tokio::join!(talk, carrying);
    assert!(heard == said);
}
