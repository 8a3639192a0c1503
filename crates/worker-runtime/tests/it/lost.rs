//! Peers that disappear without closing the connection (observation-48).

use std::time::Duration;

use futures_util::StreamExt;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::{Instant, interval},
};
use tokio_tungstenite::{connect_async, tungstenite::Message};
use websocket::KeepAlive;

use crate::runtime::{Runtime, within};

const KEEP_ALIVE: KeepAlive =
    KeepAlive { ping_interval: Duration::from_millis(50), idle_timeout: Duration::from_secs(3) };

/// The number of pings to wait for. They take longer than a peer may be silent.
const PINGS: u32 = 30;

/// An empty pong, as a client sends it.
const PONG: [u8; 6] = [0x8a, 0x80, 0, 0, 0, 0];

/// A peer that has opened the stream and then sends nothing by itself.
async fn silent(runtime: &Runtime) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4 << 10).unwrap();
    let mut stream = socket.connect(runtime.address).await.unwrap();
    let upgrade = "GET / HTTP/1.1\r\nHost: runtime\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    stream.write_all(upgrade.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    within(stream.read_exact(&mut status)).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 101");
    stream
}

/// observation-48: a live peer gets a ping at every heartbeat, and stays connected without any events.
#[tokio::test]
async fn a_quiet_peer_gets_pings_and_stays_connected() {
    let runtime = Runtime::start(KEEP_ALIVE).await;
    let begun = Instant::now();
    let (mut socket, _) = connect_async(format!("ws://{}/", runtime.address)).await.unwrap();
    let mut pings = 0;
    within(async {
        while pings < PINGS {
            // A pong is sent with the next read.
            match socket.next().await.unwrap().unwrap() {
                Message::Ping(_) => pings += 1,
                Message::Text(_) => {}
                other => panic!("{other:?}"),
            }
        }
    })
    .await;
    assert!(begun.elapsed() >= KEEP_ALIVE.ping_interval * PINGS, "{:?}", begun.elapsed());
    runtime.sessions.shutdown().await;
}

/// observation-48: "a dead peer is detected […] and its resources freed".
#[tokio::test]
async fn a_peer_that_answers_no_ping_is_dropped() {
    let runtime = Runtime::start(KEEP_ALIVE).await;
    let begun = Instant::now();
    let _peer = silent(&runtime).await;
    within(runtime.left.notified()).await;
    assert!(begun.elapsed() >= KEEP_ALIVE.idle_timeout, "{:?}", begun.elapsed());
    runtime.sessions.shutdown().await;
}

/// observation-48: so is one that sends pongs but reads nothing.
#[tokio::test]
async fn a_peer_that_never_reads_is_dropped() {
    let runtime = Runtime::start(KEEP_ALIVE).await;
    let mut peer = silent(&runtime).await;
    runtime.send("/chunks 5000").await;
    let mut pace = interval(KEEP_ALIVE.ping_interval);
    within(async {
        loop {
            tokio::select! {
                () = runtime.left.notified() => break,
                // Once it was dropped this fails.
                _ = pace.tick() => { let _ = peer.write_all(&PONG).await; }
            }
        }
    })
    .await;
    runtime.sessions.shutdown().await;
}
