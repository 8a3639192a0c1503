//! Watches the body of a forwarded request: where its bytes come to a halt decides who is at fault.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use parking_lot::Mutex;
use tokio::time::{Instant, Sleep};

/// How far the body of a request has got. Clones are of the same request.
#[derive(Debug, Clone)]
pub(super) struct RequestProgress(Arc<Mutex<BodyState>>);

/// Whom the body waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyState {
    /// The runtime, since then: it takes the next chunk, or responds once it has all.
    AwaitsRuntime(Instant),
    /// The client, which has to send the next chunk.
    AwaitsClient,
    /// The client has broken it off, or sent something that is no HTTP.
    Broken,
    /// The client sent nothing for too long.
    Stalled,
}

impl RequestProgress {
    /// Wraps `body`, which fails if the client sends nothing for `stall_timeout`.
    pub(super) fn watch(body: Body, stall_timeout: Duration) -> (Self, Body) {
        let progress = Self(Arc::new(Mutex::new(BodyState::AwaitsRuntime(Instant::now()))));
        // An empty body stays one: a wrapped one would be announced as chunked.
        if body.is_end_stream() {
            return (progress, body);
        }
        let watched = WatchedBody { body, progress: progress.clone(), stall_timeout, stalled: None };
        (progress, Body::new(watched))
    }

    pub(super) fn state(&self) -> BodyState {
        *self.0.lock()
    }

    /// Returns once the runtime could have taken a chunk or responded for `limit`, and did neither.
    pub(super) async fn runtime_stalls(&self, limit: Duration) {
        loop {
            let now = Instant::now();
            let deadline = match self.state() {
                BodyState::AwaitsRuntime(since) => since + limit,
                // The clock of the runtime starts anew with the next chunk. A client that sends none ends the request.
                BodyState::AwaitsClient | BodyState::Broken | BodyState::Stalled => now + limit,
            };
            if deadline <= now {
                return;
            }
            tokio::time::sleep_until(deadline).await;
        }
    }

    fn set(&self, state: BodyState) {
        *self.0.lock() = state;
    }
}

/// The body of a request, as a connection to a runtime takes it.
struct WatchedBody {
    body: Body,
    progress: RequestProgress,
    stall_timeout: Duration,
    /// Runs while the client has to send the next chunk.
    stalled: Option<Pin<Box<Sleep>>>,
}

/// The client sent nothing for too long.
#[derive(Debug, thiserror::Error)]
#[error("the client stopped sending")]
struct ClientStalled;

impl http_body::Body for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) else {
            this.progress.set(BodyState::AwaitsClient);
            let stall_timeout = this.stall_timeout;
            let stalled = this.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(stall_timeout)));
            ready!(stalled.as_mut().poll(cx));
            this.progress.set(BodyState::Stalled);
            return Poll::Ready(Some(Err(axum::Error::new(ClientStalled))));
        };
        this.stalled = None;
        let is_broken = matches!(frame, Some(Err(_)));
        this.progress.set(if is_broken {
            BodyState::Broken
        } else {
            BodyState::AwaitsRuntime(Instant::now())
        });
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
