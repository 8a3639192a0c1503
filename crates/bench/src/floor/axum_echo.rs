//! The floor `axum`: the HTTP stack of our daemon with one echo route and no agent.

use std::{io, net::TcpListener};

use axum::{Router, body::Bytes, http::header, response::IntoResponse, routing::post};

use super::axum_server::serve_routes;

pub(super) fn serve(listener: TcpListener) -> io::Result<()> {
    serve_routes(listener, Router::new().route("/echo", post(echo)))
}

async fn echo(body: Bytes) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], body)
}
