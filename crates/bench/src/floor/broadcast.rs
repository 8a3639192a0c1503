//! The floor `broadcast`: axum WebSockets and one channel per room, without a daemon, history or permissions behind
//! them.

use std::{
    io,
    net::TcpListener,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    Router,
    extract::{
        Path, State, WebSocketUpgrade,
        ws::{Message, Utf8Bytes, WebSocket},
    },
    response::Response,
    routing::{get, post},
};
use futures_util::future::join_all;
use tokio::sync::broadcast;

use crate::stamp::Stamp;

/// The number of pieces that a room buffers for slow clients. A client that falls further behind is disconnected.
const BEHIND_MAX: usize = 1024;

/// The text that the floor sends to each room.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Broadcast {
    /// Open this many rooms.
    pub rooms: usize,
    /// Send this many pieces to each room.
    pub count: u64,
    /// Make each piece this long.
    pub bytes: usize,
    /// Send this many pieces per second to each room.
    pub per_second: u32,
}

type Rooms = Arc<Vec<broadcast::Sender<Utf8Bytes>>>;

pub(super) fn serve(listener: TcpListener, broadcast: Broadcast) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let rooms: Rooms = Arc::new((0..broadcast.rooms).map(|_| broadcast::channel(BEHIND_MAX).0).collect());
    // The response follows when all pieces were sent.
    let begin = move |State(rooms): State<Rooms>| async move {
        join_all(rooms.iter().map(|room| speak(room, broadcast))).await;
    };
    let router =
        Router::new().route("/rooms/{room}", get(watch)).route("/begin", post(begin)).with_state(rooms);
    runtime.block_on(async {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let listener = axum::serve::ListenerExt::tap_io(listener, |socket| {
            let _ = socket.set_nodelay(true);
        });
        axum::serve(listener, router).await
    })
}

async fn watch(State(rooms): State<Rooms>, Path(room): Path<usize>, upgrade: WebSocketUpgrade) -> Response {
    let pieces = rooms[room].subscribe();
    upgrade.on_upgrade(|socket| show(socket, pieces))
}

async fn show(mut socket: WebSocket, mut pieces: broadcast::Receiver<Utf8Bytes>) {
    // The hub sends a first frame to every new client, and `Watcher::open` waits for it.
    let mut next = Ok(Utf8Bytes::from_static("{}"));
    while let Ok(piece) = next {
        if socket.send(Message::Text(piece)).await.is_err() {
            return;
        }
        next = pieces.recv().await;
    }
}

/// Sends all pieces to a room. Each has a due time counted from the start, so that a late piece does not delay the
/// rest.
async fn speak(room: &broadcast::Sender<Utf8Bytes>, Broadcast { count, bytes, per_second, .. }: Broadcast) {
    let started = Instant::now();
    for number in 0..count {
        let due = started + Duration::from_secs(number) / per_second;
        tokio::time::sleep_until(due.into()).await;
        let mut piece = b"{\"messageDelta\":\"".to_vec();
        Stamp::now(number).write(&mut piece);
        piece.resize(bytes.max(piece.len()), b'x');
        // The piece is ASCII, so the conversion does not fail.
        let piece = String::from_utf8(piece).unwrap_or_default();
        let _ = room.send(piece.into());
    }
}
