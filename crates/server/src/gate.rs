//! The gate: what every request passes before it reaches a route.

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

/// Says who may come in.
pub trait Check: Send + Sync + 'static {
    /// Refuses a request that may not come in; who asks can be left among its extensions.
    fn check(&self, head: &mut Parts) -> crate::Result<()>;
}

/// Lets everybody in: what is behind it has a guard of its own.
#[derive(Debug, Clone, Copy)]
pub struct Open;

impl Check for Open {
    fn check(&self, _: &mut Parts) -> crate::Result<()> {
        Ok(())
    }
}

/// Lets those requests through that pass the check.
#[derive(Clone)]
pub struct Gate<S> {
    /// What is asked.
    pub check: Arc<dyn Check>,
    /// What answers those who may come in.
    pub inner: S,
}

impl<S: fmt::Debug> fmt::Debug for Gate<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl<S, B> Service<Request<B>> for Gate<S>
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
        subprotocol::admit_bearer(&mut head.headers);
        match self.check.check(&mut head) {
            Ok(()) => Either::Left(self.inner.call(Request::from_parts(head, body))),
            Err(refusal) => Either::Right(ready(Ok(refusal.into_response()))),
        }
    }
}
