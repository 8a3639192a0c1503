//! The end that asks.

use std::sync::Arc;

use axum::body::Body;
use http::{Request, Response, Uri, Version, header, uri::PathAndQuery};
use http_body_util::BodyExt;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{io::DuplexStream, sync::Semaphore};
use tokio_util::task::TaskTracker;
use tracing::debug;

use crate::{connect, limits::*};

/// A tunnel, as whoever asks sees it. Cheap to clone; clones share it.
#[derive(Clone)]
pub struct Tunnel {
    requests: SendRequest<Body>,
    places: Arc<Semaphore>,
}

/// Why a request was not answered.
#[derive(Debug, thiserror::Error)]
pub enum Lost {
    /// The tunnel has ended, or what came out of it makes no sense.
    #[error("the tunnel was lost")]
    Tunnel(#[from] hyper::Error),
    /// What was asked for cannot be.
    #[error("the request cannot be passed on")]
    Request(#[from] http::Error),
    /// As many requests as there may be are on their way.
    #[error("{REQUESTS_MAX} requests are being answered")]
    Busy,
}

impl Tunnel {
    /// Asks through `io` from now on: the tunnel, and what drives it and ends when it does. What individual streams need
    /// is run by `tasks`.
    ///
    /// # Errors
    /// If `io` has ended already.
    pub async fn open(
        io: DuplexStream,
        tasks: TaskTracker,
    ) -> Result<(Self, impl Future<Output = ()> + Send), Lost> {
        let (requests, connection) = Builder::new(Tasks(tasks))
            .timer(TokioTimer::new())
            .initial_stream_window_size(STREAM_BYTES_MAX)
            .initial_connection_window_size(CONNECTION_BYTES_MAX)
            .max_send_buf_size(UNSENT_BYTES_MAX)
            .max_header_list_size(HEAD_BYTES_MAX)
            .handshake(TokioIo::new(io))
            .await?;
        let drive = async {
            if let Err(error) = connection.await {
                debug!(%error, "a tunnel ended early");
            }
        };
        Ok((Self { requests, places: Arc::new(Semaphore::new(REQUESTS_MAX)) }, drive))
    }

    /// Sends a request, of which only the path matters, not where it leads. Bodies pass as they come. One that asks for a
    /// WebSocket and gets it is answered with 101, and can then be upgraded.
    ///
    /// # Errors
    /// If the tunnel ends before there is an answer, or too many requests are on their way.
    pub async fn send(&self, mut request: Request<Body>) -> Result<Response<Body>, Lost> {
        let place = self.places.clone().try_acquire_owned().map_err(|_| Lost::Busy)?;
        let path = request.uri().path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        *request.uri_mut() = Uri::builder().scheme("http").authority(HOST).path_and_query(path).build()?;
        *request.version_mut() = Version::HTTP_2;
        request.headers_mut().remove(header::HOST);
        let upgrades = connect::enter(&mut request);
        let response = self.requests.clone().send_request(request).await?;
        let mut response = response.map(|body| {
            // It is free again when the answer is over.
            Body::new(body.map_frame(move |frame| {
                let _ = &place;
                frame
            }))
        });
        *response.version_mut() = Version::HTTP_11;
        if upgrades {
            connect::answered(&mut response);
        }
        Ok(response)
    }
}

impl std::fmt::Debug for Tunnel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tunnel").finish_non_exhaustive()
    }
}
