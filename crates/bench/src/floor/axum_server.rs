//! The HTTP server of the axum floors.

use std::{io, net::TcpListener};

use axum::Router;

/// Serves `routes` with axum, without any middleware.
pub(super) fn serve_routes(listener: TcpListener, routes: Router) -> io::Result<()> {
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
