//! WebSockets with nothing behind them: axum, a channel per room, the same pieces to everyone in it.

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

/// How many pieces a room keeps for those who are behind.
const BEHIND_MAX: usize = 1024;

/// What is said in each room.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Broadcast {
    /// How many rooms there are.
    pub rooms: usize,
    /// How many pieces are said in each.
    pub count: u64,
    /// How long each is.
    pub bytes: usize,
    /// How many per second.
    pub per_second: u32,
}

type Rooms = Arc<Vec<broadcast::Sender<Utf8Bytes>>>;

pub(super) fn serve(listener: TcpListener, broadcast: Broadcast) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let rooms: Rooms = Arc::new((0..broadcast.rooms).map(|_| broadcast::channel(BEHIND_MAX).0).collect());
    // It answers when everything was said.
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
    // Whoever comes is greeted, as the hub does.
    let mut next = Ok(Utf8Bytes::from_static("{}"));
    while let Ok(piece) = next {
        if socket.send(Message::Text(piece)).await.is_err() {
            return;
        }
        next = pieces.recv().await;
    }
}

/// Says everything at its pace.
async fn speak(room: &broadcast::Sender<Utf8Bytes>, Broadcast { count, bytes, per_second, .. }: Broadcast) {
    let started = Instant::now();
    for number in 0..count {
        let due = started + Duration::from_secs(number) / per_second;
        tokio::time::sleep_until(due.into()).await;
        let mut piece = b"{\"messageDelta\":\"".to_vec();
        Stamp::now(number).write(&mut piece);
        piece.resize(bytes.max(piece.len()), b'x');
        // Only ASCII was written.
        let piece = String::from_utf8(piece).unwrap_or_default();
        let _ = room.send(piece.into());
    }
}
