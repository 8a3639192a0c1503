//! Client and server of a tunnel, over WebSockets in memory.

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
use tunnel::{TunnelClient, TunnelError};
use websocket::KeepAlive;

/// Larger than the flow-control window of a stream.
const LARGE: usize = 1 << 20;

/// A tunnel to the test service.
async fn tunnel(tasks: &TaskTracker) -> (TunnelClient, CancellationToken) {
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
    let (tunnel, driving) = TunnelClient::open(near, tasks.clone()).await.unwrap();
    tasks.spawn(driving);
    // The client learns with the first response that the server supports extended CONNECT.
    assert_eq!(text(tunnel.send(get_request("/host")).await.unwrap()).await, "\"localhost\"");
    (tunnel, stop)
}

/// Connects two pipes through a WebSocket.
async fn wire(
    near: DuplexStream,
    far: DuplexStream,
) -> (impl Future<Output = ()> + Send, impl Future<Output = ()> + Send) {
    let (one, two) = tokio::io::duplex(4096);
    let one = WebSocketStream::from_raw_socket(one, Role::Server, None).await;
    let two = WebSocketStream::from_raw_socket(two, Role::Client, None).await;
    (tunnel::carry(one, near, KeepAlive::default()), tunnel::carry(two, far, KeepAlive::default()))
}

/// Answers every text in upper case.
async fn shout(mut socket: axum::extract::ws::WebSocket) {
    while let Some(Ok(Message::Text(text))) = socket.next().await {
        socket.send(Message::Text(text.to_uppercase().into())).await.unwrap();
    }
}

fn get_request(path: &str) -> Request<Body> {
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
    let body = "x".repeat(LARGE);
    let request = Request::post("/echo?a=b").body(Body::from(body.clone())).unwrap();
    assert_eq!(text(tunnel.send(request).await.unwrap()).await, body);
    assert_eq!(tunnel.send(get_request("/none")).await.unwrap().status(), StatusCode::NOT_FOUND);
}

/// Many responses are not read, and another request is still answered.
#[tokio::test]
async fn unread_streams_do_not_block_others() {
    let tasks = TaskTracker::new();
    let (tunnel, _stop) = tunnel(&tasks).await;
    let mut unread = Vec::new();
    for _ in 0..64 {
        unread.push(tunnel.send(get_request("/large")).await.unwrap());
    }
    assert_eq!(text(tunnel.send(get_request("/host")).await.unwrap()).await, "\"localhost\"");
    for response in unread {
        assert_eq!(text(response).await.len(), LARGE);
    }
}

/// Beyond the limit a request fails; when another one has ended, it succeeds.
#[tokio::test]
async fn concurrent_requests_are_limited() {
    let tasks = TaskTracker::new();
    let (tunnel, _stop) = tunnel(&tasks).await;
    let mut open = Vec::new();
    let busy = loop {
        match tunnel.send(get_request("/endless")).await {
            Ok(response) => open.push(response),
            Err(error) => break error,
        }
    };
    assert!(matches!(busy, TunnelError::Busy) && open.len() == 1024, "{busy} after {}", open.len());
    open.pop();
    assert_eq!(text(tunnel.send(get_request("/host")).await.unwrap()).await, "\"localhost\"");
}

#[tokio::test]
async fn a_websocket_passes_through_the_tunnel() {
    let tasks = TaskTracker::new();
    let (tunnel, _stop) = tunnel(&tasks).await;
    let upgrade = |path: &str| {
        let mut request = get_request(path);
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
    // A response without an upgrade does not count as a WebSocket.
    for (path, status) in [("/host", StatusCode::UPGRADE_REQUIRED), ("/none", StatusCode::NOT_FOUND)] {
        assert_eq!(tunnel.send(upgrade(path)).await.unwrap().status(), status, "{path}");
    }
}

/// Requests fail after the server has stopped.
#[tokio::test]
async fn requests_fail_after_the_tunnel_has_ended() {
    let tasks = TaskTracker::new();
    let (tunnel, stop) = tunnel(&tasks).await;
    stop.cancel();
    tasks.close();
    drop(tunnel.send(get_request("/host")).await);
    tasks.wait().await;
    assert!(tunnel.send(get_request("/host")).await.is_err());
}

/// A peer that sends nothing for too long counts as lost; one that only sends pings does not.
#[tokio::test(start_paused = true)]
async fn a_silent_peer_is_lost_and_an_idle_one_is_not() {
    let KeepAlive { ping_interval, idle_timeout } = KeepAlive::default();
    for (pings, expected) in [(0, idle_timeout), (5, ping_interval * 5 + idle_timeout)] {
        let (one, two) = tokio::io::duplex(4096);
        let one = WebSocketStream::from_raw_socket(one, Role::Server, None).await;
        let mut two = WebSocketStream::from_raw_socket(two, Role::Client, None).await;
        let (_pipe, end) = tunnel::pipe();
        let started = tokio::time::Instant::now();
        let other = async {
            for _ in 0..pings {
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
        assert!(took >= expected && took < expected + Duration::from_secs(2), "{pings}: {took:?}");
    }
}

/// Bytes arrive unchanged, however they are split into messages.
#[tokio::test]
async fn a_websocket_transports_bytes() {
    let (mut near, their_near) = tunnel::pipe();
    let (mut far, their_far) = tunnel::pipe();
    let (here, there) = wire(their_near, their_far).await;
    let sent_bytes: Vec<u8> = (0..LARGE).map(|at| (at * 31) as u8).collect();
    let talk = async {
        let (sent, received) = tokio::join!(
            async {
                near.write_all(&sent_bytes).await.unwrap();
                near.shutdown().await.unwrap();
            },
            async {
                let mut received = Vec::new();
                far.read_to_end(&mut received).await.unwrap();
                received
            }
        );
        let () = sent;
        received
    };
    let carrying = async { tokio::join!(here, there) };
    let (received, _) = tokio::join!(talk, carrying);
    assert!(received == sent_bytes);
}
