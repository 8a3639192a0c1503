//! The client side of a tunnel.

use std::sync::Arc;

use axum::body::Body;
use http::{Request, Response, Uri, Version, header, uri::PathAndQuery};
use http_body_util::BodyExt;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{io::DuplexStream, sync::Semaphore};
use tokio_util::task::TaskTracker;
use tracing::debug;

use crate::{extended_connect, limits::*};

/// Sends HTTP requests through a tunnel. Clones share the connection.
#[derive(Clone)]
pub struct TunnelClient {
    requests: SendRequest<Body>,
    permits: Arc<Semaphore>,
}

/// Why a request got no response.
#[derive(Debug, thiserror::Error)]
pub enum TunnelError {
    /// The tunnel has ended, or the other side violated the protocol.
    #[error("the connection to the runtime was lost")]
    Tunnel(#[from] hyper::Error),
    /// The request is invalid.
    #[error("the request cannot be forwarded")]
    Request(#[from] http::Error),
    /// The maximum number of requests is in progress.
    #[error("{REQUESTS_MAX} requests are already in progress; try again later")]
    Busy,
}

impl TunnelClient {
    /// Opens the client side on `io`. Returns the client, and a future that the caller must run: it drives the connection and ends
    /// with it. `tasks` runs the tasks of individual streams.
    ///
    /// # Errors
    /// When `io` is already closed.
    pub async fn open(
        io: DuplexStream,
        tasks: TaskTracker,
    ) -> Result<(Self, impl Future<Output = ()> + Send), TunnelError> {
        let (requests, connection) = Builder::new(TunnelExecutor(tasks))
            .timer(TokioTimer::new())
            .initial_stream_window_size(STREAM_BYTES_MAX)
            .initial_connection_window_size(CONNECTION_BYTES_MAX)
            .max_send_buf_size(UNSENT_BYTES_MAX)
            .max_header_list_size(HEAD_BYTES_MAX)
            .handshake(TokioIo::new(io))
            .await?;
        let drive = async {
            if let Err(error) = connection.await {
                debug!(%error, "the tunnel ended with an error");
            }
        };
        Ok((Self { requests, permits: Arc::new(Semaphore::new(REQUESTS_MAX)) }, drive))
    }

    /// Sends a request; only the path of its URI is used. Bodies are streamed. A successful WebSocket request gets a `101` response
    /// that can be upgraded.
    ///
    /// # Errors
    /// When the tunnel ends before the response, or too many requests are in progress.
    pub async fn send(&self, mut request: Request<Body>) -> Result<Response<Body>, TunnelError> {
        let permit = self.permits.clone().try_acquire_owned().map_err(|_| TunnelError::Busy)?;
        let path = request.uri().path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        *request.uri_mut() = Uri::builder().scheme("http").authority(HOST).path_and_query(path).build()?;
        *request.version_mut() = Version::HTTP_2;
        request.headers_mut().remove(header::HOST);
        let is_upgrade = extended_connect::upgrade_to_connect(&mut request);
        let response = self.requests.clone().send_request(request).await?;
        let mut response = response.map(|body| {
            // The body holds the permit, so that it is released when the response has ended.
            Body::new(body.map_frame(move |frame| {
                let _ = &permit;
                frame
            }))
        });
        *response.version_mut() = Version::HTTP_11;
        if is_upgrade {
            extended_connect::connect_response_to_upgrade(&mut response);
        }
        Ok(response)
    }
}

impl std::fmt::Debug for TunnelClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TunnelClient").finish_non_exhaustive()
    }
}
