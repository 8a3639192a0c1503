//! The floor `axum`: the HTTP stack of our daemon with one echo route and no agent.

use std::{io, net::TcpListener};

use axum::{Router, body::Bytes, http::header, response::IntoResponse, routing::post};

pub(super) fn serve(listener: TcpListener) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let listener = axum::serve::ListenerExt::tap_io(listener, |socket| {
            let _ = socket.set_nodelay(true);
        });
        axum::serve(listener, Router::new().route("/echo", post(echo))).await
    })
}

async fn echo(body: Bytes) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], body)
}
