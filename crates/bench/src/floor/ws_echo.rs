//! The floor `ws`: an axum WebSocket that returns every message.

use std::{io, net::TcpListener};

use axum::{
    Router,
    extract::{
        WebSocketUpgrade,
        ws::{Message, WebSocket},
    },
    response::Response,
    routing::get,
};
use futures_util::StreamExt;

pub(super) fn serve(listener: TcpListener) -> io::Result<()> {
    run(listener, Router::new().route("/echo", get(open)))
}

/// Serves `routes` with axum, without any middleware.
pub(super) fn run(listener: TcpListener, routes: Router) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let listener = axum::serve::ListenerExt::tap_io(listener, |socket| {
            let _ = socket.set_nodelay(true);
        });
        axum::serve(listener, routes).await
    })
}

async fn open(upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(echo)
}

async fn echo(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.next().await {
        let said = matches!(message, Message::Text(_) | Message::Binary(_));
        if said && socket.send(message).await.is_err() {
            return;
        }
    }
}
