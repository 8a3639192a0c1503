//! The floor `ws-hop`: a WebSocket proxy that forwards every message unchanged. The relay has the same number of
//! hops.

use std::{io, net::TcpListener};

use axum::{
    Router,
    extract::{
        State, WebSocketUpgrade,
        ws::{Message, WebSocket},
    },
    response::Response,
    routing::get,
};
use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::{connect_async_with_config, tungstenite};

use super::axum_server::serve_routes;

pub(super) fn serve(listener: TcpListener, to: String) -> io::Result<()> {
    serve_routes(listener, Router::new().route("/echo", get(open)).with_state(to))
}

async fn open(State(to): State<String>, upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(|socket| async move {
        // On an error the connection closes, and the load generator reports that the floor failed.
        let _ = forward_messages(socket, to).await;
    })
}

async fn forward_messages(socket: WebSocket, to: String) -> Result<(), axum::Error> {
    let (there, _) = connect_async_with_config(to, None, true).await.map_err(axum::Error::new)?;
    let ((mut to_here, mut from_here), (mut to_there, mut from_there)) = (socket.split(), there.split());
    let out = async {
        while let Some(message) = from_here.next().await {
            let message = match message? {
                Message::Text(text) => tungstenite::Message::text(text.as_str()),
                Message::Binary(bytes) => tungstenite::Message::Binary(bytes),
                _ => continue,
            };
            to_there.send(message).await.map_err(axum::Error::new)?;
        }
        Ok(())
    };
    let back = async {
        while let Some(message) = from_there.next().await {
            let message = match message.map_err(axum::Error::new)? {
                tungstenite::Message::Text(text) => Message::text(text.as_str()),
                tungstenite::Message::Binary(bytes) => Message::Binary(bytes),
                _ => continue,
            };
            to_here.send(message).await?;
        }
        Ok(())
    };
    tokio::try_join!(out, back).map(|_| ())
}
