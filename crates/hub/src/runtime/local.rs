//! A runtime in the same process.

use std::convert::Infallible;

use axum::body::Body;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Request, Response, header};
use hyper::{body::Incoming, client::conn::http1 as asking, server::conn::http1 as answering};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use server::InProcessService;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use super::{Down, Runtime};

/// A runtime in the same process: what answers its requests is called as it is.
#[derive(Debug)]
pub struct Local {
    inside: InProcessService,
    /// What WebSockets need.
    tasks: TaskTracker,
}

impl Local {
    /// The one that answers with `inside`.
    pub fn new(inside: InProcessService) -> Self {
        Self { inside, tasks: TaskTracker::new() }
    }

    /// Only a connection can become a WebSocket: this one is in memory.
    async fn connected(&self, request: Request<Body>) -> Result<Response<Body>, hyper::Error> {
        let (near, far) = tunnel::pipe();
        let inside = self.inside.clone().map_request(|request: Request<Incoming>| request.map(Body::new));
        let serving = answering::Builder::new()
            .serve_connection(TokioIo::new(far), TowerToHyperService::new(inside))
            .with_upgrades();
        self.tasks.spawn(serving);
        let (mut requests, connection) = asking::handshake(TokioIo::new(near)).await?;
        self.tasks.spawn(connection.with_upgrades());
        Ok(requests.send_request(request).await?.map(Body::new))
    }
}

impl Runtime for Local {
    fn send(&self, mut request: Request<Body>) -> BoxFuture<'_, Result<Response<Body>, Down>> {
        request.headers_mut().insert(header::HOST, HeaderValue::from_static(tunnel::HOST));
        Box::pin(async {
            if request.headers().contains_key(header::UPGRADE) {
                return self.connected(request).await.map_err(|_| Down::Unreachable);
            }
            let answer: Result<_, Infallible> = self.inside.clone().oneshot(request).await;
            let Ok(response) = answer;
            Ok(response)
        })
    }

    fn is_up(&self) -> Option<bool> {
        Some(true)
    }
}
