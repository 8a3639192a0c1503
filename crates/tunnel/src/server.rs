//! The server side of a tunnel.

use std::{convert::Infallible, time::Duration};

use axum::body::Body;
use http::{HeaderValue, Request, Response, Uri, header, uri::PathAndQuery};
use hyper::{body::Incoming, server::conn::http2::Builder, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{io::DuplexStream, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::{Service, ServiceExt};
use tracing::debug;

use crate::{extended_connect, limits::*};

/// How long streams may continue after a shutdown was requested.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// Serves requests from `io` with `service`, until the other side closes the connection or `stop` is cancelled.
pub async fn serve<S>(io: DuplexStream, service: S, stop: CancellationToken)
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let handler = service_fn(move |request| {
        let response = handle(service.clone(), request);
        async { Ok::<_, Infallible>(response.await) }
    });
    let connection = Builder::new(TunnelExecutor(TaskTracker::new()))
        .timer(TokioTimer::new())
        .enable_connect_protocol()
        .initial_stream_window_size(STREAM_BYTES_MAX)
        .initial_connection_window_size(CONNECTION_BYTES_MAX)
        .max_concurrent_streams(STREAMS_MAX)
        .max_send_buf_size(UNSENT_BYTES_MAX)
        .max_header_list_size(HEAD_BYTES_MAX)
        // hyper limits the resets by a client, as a defence against attackers. Here the client is the hub that this side dialled,
        // and it may cancel all its requests at once.
        .max_pending_accept_reset_streams(STREAMS_MAX as usize)
        .max_local_error_reset_streams(None)
        .serve_connection(TokioIo::new(io), handler);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            timeout(SHUTDOWN_GRACE, connection).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = ended {
        debug!(%error, "the tunnel ended with an error");
    }
}

async fn handle<S>(service: S, request: Request<Incoming>) -> Response<Body>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
{
    let mut request = request.map(Body::new);
    let is_upgrade = extended_connect::connect_to_upgrade(&mut request);
    // Services expect the HTTP/1.1 form: the host in a header, and only the path in the URI.
    if let Some(host) = request.uri().authority().and_then(|name| HeaderValue::from_str(name.as_str()).ok()) {
        request.headers_mut().insert(header::HOST, host);
    }
    let path = request.uri().path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
    *request.uri_mut() = Uri::from(path);
    let Ok(response) = service.oneshot(request).await;
    if is_upgrade { extended_connect::upgrade_response_to_connect(response) } else { response }
}
