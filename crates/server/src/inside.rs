//! What comes in without an address: from the same process, or through a tunnel.

use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use axum::{Router, body::Body};
use futures_util::future::BoxFuture;
use http::{Request, Response};
use tower::Service;

use crate::{Gate, exchange::Exchange};

/// Answers those who come in without an address. Each request has an id and is counted, as those are that come over the
/// network.
#[derive(Clone)]
pub struct Inside {
    pub(crate) gate: Gate<Router>,
    pub(crate) exchange: Exchange,
}

impl Service<Request<Body>> for Inside {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // Each call waits for the gate itself.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.exchange.carry(request, self.gate.clone()))
    }
}

impl std::fmt::Debug for Inside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inside").finish_non_exhaustive()
    }
}
