//! Serves requests that do not arrive over a listener: from the same process, or through a tunnel.

use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use axum::{Router, body::Body};
use futures_util::future::BoxFuture;
use http::{Request, Response};
use tower::Service;

use crate::{AccessGate, request_tracker::RequestTracker};

/// A service for requests that do not arrive over a listener. They get an id and are counted like all others.
#[derive(Clone)]
pub struct InProcessService {
    pub(crate) gate: AccessGate<Router>,
    pub(crate) tracker: RequestTracker,
}

impl Service<Request<Body>> for InProcessService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // Each call waits until its own clone of the gate is ready.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.tracker.track(request, self.gate.clone()))
    }
}

impl std::fmt::Debug for InProcessService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InProcessService").finish_non_exhaustive()
    }
}
