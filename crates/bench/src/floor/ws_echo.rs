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

use super::axum_server::serve_routes;

pub(super) fn serve(listener: TcpListener) -> io::Result<()> {
    serve_routes(listener, Router::new().route("/echo", get(open)))
}

async fn open(upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(echo)
}

async fn echo(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.next().await {
        let is_content = matches!(message, Message::Text(_) | Message::Binary(_));
        if is_content && socket.send(message).await.is_err() {
            return;
        }
    }
}
