//! The end that answers.

use std::{convert::Infallible, time::Duration};

use axum::body::Body;
use http::{HeaderValue, Request, Response, Uri, header, uri::PathAndQuery};
use hyper::{body::Incoming, server::conn::http2::Builder, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{io::DuplexStream, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::{Service, ServiceExt};
use tracing::debug;

use crate::{connect, limits::*};

/// How long streams have to end after it is over.
const FAREWELL: Duration = Duration::from_secs(2);

/// Answers what is asked through `io` with `service`, until the other end leaves or `stop`.
pub async fn serve<S>(io: DuplexStream, service: S, stop: CancellationToken)
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let answer = service_fn(move |request| {
        let answer = answer(service.clone(), request);
        async { Ok::<_, Infallible>(answer.await) }
    });
    let connection = Builder::new(Tasks(TaskTracker::new()))
        .timer(TokioTimer::new())
        .enable_connect_protocol()
        .initial_stream_window_size(STREAM_BYTES_MAX)
        .initial_connection_window_size(CONNECTION_BYTES_MAX)
        .max_concurrent_streams(STREAMS_MAX)
        .max_send_buf_size(UNSENT_BYTES_MAX)
        .max_header_list_size(HEAD_BYTES_MAX)
        // Who asks is the one that we called: it may give up as many requests at a time as it may make.
        .max_pending_accept_reset_streams(STREAMS_MAX as usize)
        .max_local_error_reset_streams(None)
        .serve_connection(TokioIo::new(io), answer);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            timeout(FAREWELL, connection).await.unwrap_or(Ok(()))
        }
    };
    if let Err(error) = ended {
        debug!(%error, "a tunnel ended early");
    }
}

async fn answer<S>(service: S, request: Request<Incoming>) -> Response<Body>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
{
    let mut request = request.map(Body::new);
    let upgrades = connect::leave(&mut request);
    // As HTTP/1.1 has it: the name in a header, and only the path where the address was.
    if let Some(host) = request.uri().authority().and_then(|name| HeaderValue::from_str(name.as_str()).ok()) {
        request.headers_mut().insert(header::HOST, host);
    }
    let path = request.uri().path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
    *request.uri_mut() = Uri::from(path);
    let Ok(response) = service.oneshot(request).await;
    if upgrades { connect::answer(response) } else { response }
}
