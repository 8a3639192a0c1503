use std::{future::pending, time::Duration};

use futures_util::{SinkExt, StreamExt};
use tokio::{
    io::DuplexStream,
    time::{Instant, timeout},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{Message, protocol::Role},
};

use super::*;

const KEEP_ALIVE: KeepAlive =
    KeepAlive { ping_interval: Duration::from_secs(10), idle_timeout: Duration::from_secs(30) };

/// What fits into the connection before the reader must read.
const PIPE_BYTES: usize = 4 << 10;

/// Both ends of a connection: the server's, and the client's.
async fn connection() -> (WebSocketStream<DuplexStream>, WebSocketStream<DuplexStream>) {
    let (near, far) = tokio::io::duplex(PIPE_BYTES);
    let server = WebSocketStream::from_raw_socket(near, Role::Server, None).await;
    (server, WebSocketStream::from_raw_socket(far, Role::Client, None).await)
}

#[tokio::test(start_paused = true)]
async fn a_silent_peer_is_lost_after_the_idle_timeout() {
    let (server, _client) = connection().await;
    let (_sender, mut receiver) = split(server, KEEP_ALIVE);
    let started_at = Instant::now();
    assert!(matches!(receiver.next().await, Err(Disconnected::Idle)));
    assert_eq!(started_at.elapsed(), KEEP_ALIVE.idle_timeout);
}

#[tokio::test(start_paused = true)]
async fn a_silent_peer_is_lost_even_if_the_caller_keeps_cancelling_the_wait() {
    let (server, _client) = connection().await;
    let (_sender, mut receiver) = split(server, KEEP_ALIVE);
    let started_at = Instant::now();
    let lost = loop {
        if let Ok(result) = timeout(KEEP_ALIVE.idle_timeout / 7, receiver.next()).await {
            break result;
        }
    };
    assert!(matches!(lost, Err(Disconnected::Idle)));
    assert!(started_at.elapsed() < KEEP_ALIVE.idle_timeout + Duration::from_millis(10));
}

#[tokio::test(start_paused = true)]
async fn the_time_a_caller_spends_on_a_message_does_not_count_as_silence() {
    let (server, mut client) = connection().await;
    let (_sender, mut receiver) = split(server, KEEP_ALIVE);
    client.send(Message::text("one")).await.unwrap();
    assert_eq!(receiver.next().await.unwrap(), IncomingMessage::Text("one".into()));
    tokio::time::sleep(2 * KEEP_ALIVE.idle_timeout).await;
    let late = async {
        tokio::time::sleep(KEEP_ALIVE.idle_timeout / 2).await;
        client.send(Message::text("two")).await.unwrap();
    };
    let (received, ()) = tokio::join!(receiver.next(), late);
    assert_eq!(received.unwrap(), IncomingMessage::Text("two".into()));
}

#[tokio::test(start_paused = true)]
async fn a_quiet_peer_that_answers_pings_is_not_lost() {
    let (server, mut client) = connection().await;
    let (mut sender, mut receiver) = split(server, KEEP_ALIVE);
    let quiet = async { while client.next().await.is_some() {} };
    tokio::select! {
        lost = sender.ping_until(pending::<()>()) => panic!("{lost:?}"),
        message = receiver.next() => panic!("{message:?}"),
        () = quiet => panic!("closed"),
        () = tokio::time::sleep(20 * KEEP_ALIVE.idle_timeout) => {}
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_that_never_pauses_does_not_suppress_pings() {
    let (server, mut client) = connection().await;
    let (mut sender, _receiver) = split(server, KEEP_ALIVE);
    let busy = async {
        loop {
            let text = sender.ping_until(async { Message::text("tick") }).await.unwrap();
            sender.send(text).await.unwrap();
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    let count_pings = async {
        let mut pings = 0;
        while pings < 3 {
            pings += usize::from(client.next().await.unwrap().unwrap().is_ping());
        }
    };
    let started_at = Instant::now();
    tokio::select! {
        () = busy => {}
        () = count_pings => {}
    }
    assert!(started_at.elapsed() < 4 * KEEP_ALIVE.ping_interval);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_is_lost_after_the_idle_timeout() {
    let (server, _client) = connection().await;
    let (mut sender, _receiver) = split(server, KEEP_ALIVE);
    let started_at = Instant::now();
    let sent = sender.send(Message::binary(vec![0; 10 * PIPE_BYTES])).await;
    assert!(matches!(sent, Err(Disconnected::Idle)));
    assert_eq!(started_at.elapsed(), KEEP_ALIVE.idle_timeout);
}

#[tokio::test(start_paused = true)]
async fn closing_delivers_the_last_messages_and_waits_for_the_peer() {
    let (server, mut client) = connection().await;
    let (sender, receiver) = split(server, KEEP_ALIVE);
    let last = [Message::text("bye"), Message::Close(Some(close_frame(1001, "going away")))];
    let peer = async {
        assert_eq!(client.next().await.unwrap().unwrap(), Message::text("bye"));
        let Some(Ok(Message::Close(Some(frame)))) = client.next().await else { panic!("no close frame") };
        assert_eq!((u16::from(frame.code), frame.reason.as_str()), (1001, "going away"));
        assert!(client.next().await.is_none());
        drop(client);
    };
    let started_at = Instant::now();
    tokio::join!(close(sender, receiver, last), peer);
    assert!(started_at.elapsed() < CLOSE_WAIT_MAX);
}

#[tokio::test(start_paused = true)]
async fn closing_does_not_wait_long_for_a_peer_that_does_not_answer() {
    let (server, _client) = connection().await;
    let (sender, receiver) = split(server, KEEP_ALIVE);
    let started_at = Instant::now();
    close(sender, receiver, [Message::Close(None)]).await;
    assert_eq!(started_at.elapsed(), CLOSE_WAIT_MAX);
}

#[test]
fn a_reason_that_is_too_long_is_cut_between_characters() {
    let frame = close_frame(1000, &"€".repeat(50));
    assert_eq!(frame.reason.as_str(), "€".repeat(41));
}

/// A client, an upstream, and the proxy between them, which runs until it is done.
struct Proxied {
    client: WebSocketStream<DuplexStream>,
    upstream: WebSocketStream<DuplexStream>,
}

impl Proxied {
    async fn run<T>(test: impl AsyncFnOnce(&mut Self) -> T, cancelled: impl Future<Output = ()>) -> T {
        let (proxy_server, client) = connection().await;
        let (upstream, proxy_client) = connection().await;
        let mut proxied = Self { client, upstream };
        let cancelled = async {
            cancelled.await;
            close_frame(1008, "revoked")
        };
        let proxy = proxy(proxy_server, proxy_client, KEEP_ALIVE, close_frame(1013, "lost"), cancelled);
        let test = async {
            let result = test(&mut proxied).await;
            drop(proxied);
            result
        };
        tokio::join!(proxy, test).1
    }

    async fn client_close(&mut self) -> (u16, String) {
        close_received(&mut self.client).await
    }

    async fn upstream_close(&mut self) -> (u16, String) {
        close_received(&mut self.upstream).await
    }
}

async fn close_received(socket: &mut WebSocketStream<DuplexStream>) -> (u16, String) {
    loop {
        match socket.next().await {
            Some(Ok(Message::Close(Some(frame)))) => return (frame.code.into(), frame.reason.to_string()),
            Some(Ok(Message::Ping(_))) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_proxy_forwards_messages_and_the_close_frame_of_the_client() {
    let test = async |proxied: &mut Proxied| {
        for message in [Message::text("a"), Message::binary(vec![1, 2]), Message::binary(vec![3; 100_000])] {
            let (sent, received) =
                tokio::join!(proxied.client.send(message.clone()), proxied.upstream.next());
            sent.unwrap();
            assert_eq!(received.unwrap().unwrap(), message);
            let (sent, received) =
                tokio::join!(proxied.upstream.send(message.clone()), proxied.client.next());
            sent.unwrap();
            assert_eq!(received.unwrap().unwrap(), message);
        }
        proxied.client.send(Message::Close(Some(close_frame(4000, "done")))).await.unwrap();
        assert_eq!(proxied.upstream_close().await, (4000, "done".into()));
    };
    Proxied::run(test, pending()).await;
}

#[tokio::test(start_paused = true)]
async fn a_proxy_forwards_the_close_frame_of_the_upstream() {
    let test = async |proxied: &mut Proxied| {
        proxied.upstream.send(Message::Close(Some(close_frame(1000, "ended")))).await.unwrap();
        assert_eq!(proxied.client_close().await, (1000, "ended".into()));
    };
    Proxied::run(test, pending()).await;
}

#[tokio::test(start_paused = true)]
async fn the_client_of_a_proxy_is_told_that_the_upstream_is_lost() {
    let test = async |proxied: &mut Proxied| {
        // The client answers pings; the upstream is silent.
        assert_eq!(proxied.client_close().await, (1013, "lost".into()));
    };
    Proxied::run(test, pending()).await;
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_proxy_closes_both_sides_and_gives_the_reason_to_the_client_only() {
    let test = async |proxied: &mut Proxied| {
        assert_eq!(proxied.client_close().await, (1008, "revoked".into()));
        assert_eq!(proxied.upstream_close().await, (1008, String::new()));
    };
    Proxied::run(test, tokio::time::sleep(Duration::from_secs(1))).await;
}
