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

use super::axum_server::serve_routes;
use crate::piece_stamp::PieceStamp;

/// The number of pieces that a room buffers for slow clients. A client that falls further behind is disconnected.
const BEHIND_MAX: usize = 1024;

/// The text that the floor sends to each room.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct BroadcastOptions {
    /// Open this many rooms.
    pub rooms: usize,
    /// Send this many pieces to each room.
    pub count: u64,
    /// Make each piece this long.
    pub bytes: usize,
    /// Send this many pieces per second to each room.
    pub per_second: u32,
}

type BroadcastRooms = Arc<Vec<broadcast::Sender<Utf8Bytes>>>;

pub(super) fn serve(listener: TcpListener, broadcast: BroadcastOptions) -> io::Result<()> {
    let rooms: BroadcastRooms =
        Arc::new((0..broadcast.rooms).map(|_| broadcast::channel(BEHIND_MAX).0).collect());
    // The response follows when all pieces were sent.
    let start = move |State(rooms): State<BroadcastRooms>| async move {
        join_all(rooms.iter().map(|room| send_pieces(room, broadcast))).await;
    };
    let router =
        Router::new().route("/rooms/{room}", get(watch_room)).route("/begin", post(start)).with_state(rooms);
    serve_routes(listener, router)
}

async fn watch_room(
    State(rooms): State<BroadcastRooms>,
    Path(room): Path<usize>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let pieces = rooms[room].subscribe();
    upgrade.on_upgrade(|socket| forward_pieces(socket, pieces))
}

async fn forward_pieces(mut socket: WebSocket, mut pieces: broadcast::Receiver<Utf8Bytes>) {
    // The hub sends a first frame to every new client, and `WebSocketWatcher::open` waits for it.
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
async fn send_pieces(
    room: &broadcast::Sender<Utf8Bytes>,
    BroadcastOptions { count, bytes, per_second, .. }: BroadcastOptions,
) {
    let started = Instant::now();
    for number in 0..count {
        let due = started + Duration::from_secs(number) / per_second;
        tokio::time::sleep_until(due.into()).await;
        let mut piece = b"{\"messageDelta\":\"".to_vec();
        PieceStamp::now(number).write(&mut piece);
        piece.resize(bytes.max(piece.len()), b'x');
        // The piece is ASCII, so the conversion does not fail.
        let piece = String::from_utf8(piece).unwrap_or_default();
        let _ = room.send(piece.into());
    }
}
