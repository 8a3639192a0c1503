//! The access check that every request passes before it reaches a route.

use std::{
    fmt,
    future::{Ready, ready},
    sync::Arc,
    task::{Context, Poll},
};

use axum::{body::Body, response::IntoResponse};
use futures_util::future::Either;
use http::{Request, Response, request::Parts};
use tower::Service;

use crate::subprotocol;

/// Decides which requests are admitted.
pub trait AccessCheck: Send + Sync + 'static {
    /// Rejects a request, or admits it. An implementation may add the caller to the extensions of the request.
    fn check(&self, head: &mut Parts) -> crate::Result<()>;
}

/// Admits every request. For a router with access checks of its own.
#[derive(Debug, Clone, Copy)]
pub struct AllowAll;

impl AccessCheck for AllowAll {
    fn check(&self, _: &mut Parts) -> crate::Result<()> {
        Ok(())
    }
}

/// Passes admitted requests to the inner service, and answers the others with a problem document.
#[derive(Clone)]
pub struct AccessGate<S> {
    /// Decides which requests are admitted.
    pub check: Arc<dyn AccessCheck>,
    /// Handles admitted requests.
    pub inner: S,
}

impl<S: fmt::Debug> fmt::Debug for AccessGate<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessGate").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S, B> Service<Request<B>> for AccessGate<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Either<S::Future, Ready<Result<S::Response, S::Error>>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (mut head, body) = request.into_parts();
        subprotocol::promote_token(&mut head.headers);
        match self.check.check(&mut head) {
            Ok(()) => Either::Left(self.inner.call(Request::from_parts(head, body))),
            Err(problem) => Either::Right(ready(Ok(problem.into_response()))),
        }
    }
}
