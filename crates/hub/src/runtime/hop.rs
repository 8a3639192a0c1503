//! The way to a runtime, whichever it is: what is asked of it carries the id and the trace of who asks.

use std::{sync::Arc, time::Duration};

use axum::body::Body;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use protocol::RuntimeId;
use server::RequestId;
use telemetry::HttpSide;
use tracing::{Instrument, field::Empty, info_span};

use super::{
    Down, ResponseLimit, Runtime,
    request_progress::{BodyState, RequestProgress},
};
use crate::reach::Reach;

/// The way to a runtime. It is noted whether that could be reached.
pub(crate) struct Hop {
    pub(crate) id: RuntimeId,
    pub(crate) runtime: Arc<dyn Runtime>,
    pub(crate) reach: Reach,
}

impl Runtime for Hop {
    fn send(&self, mut request: Request<Body>) -> BoxFuture<'_, Result<Response<Body>, Down>> {
        let id = RequestId::forward(request.headers_mut());
        let span = info_span!(
            "forward",
            id = id.as_str(),
            runtime = %self.id,
            http.request.method = %telemetry::method_name(request.method()),
            http.response.status_code = Empty,
            otel.kind = "client",
        );
        telemetry::inject_trace_context(&span, request.headers_mut());
        telemetry::record_request(&span, &request);
        let outcome = span.clone();
        let answer = async move {
            let answer = self.send_within_limit(request).await;
            match &answer {
                Ok(response) => telemetry::record_response(&outcome, HttpSide::Client, response.status()),
                Err(down) => telemetry::record_failure(&outcome, down.error_type()),
            }
            match answer {
                // A client that breaks its request off says nothing about the runtime.
                Err(Down::BrokenRequest | Down::StalledRequest(_)) => {}
                Err(Down::Unreachable | Down::Timeout(_)) => self.reach.note(false),
                _ => self.reach.note(true),
            }
            answer
        };
        Box::pin(answer.instrument(span))
    }

    fn is_up(&self) -> Option<bool> {
        self.runtime.is_up()
    }

    fn silence_max(&self) -> Duration {
        self.runtime.silence_max()
    }
}

impl Hop {
    /// Sends a request. One with a [`ResponseLimit`] fails when the runtime does not begin its response in time.
    async fn send_within_limit(&self, request: Request<Body>) -> Result<Response<Body>, Down> {
        let (mut parts, body) = request.into_parts();
        let Some(limit) = parts.extensions.remove::<ResponseLimit>() else {
            return self.runtime.send(Request::from_parts(parts, body)).await;
        };
        let (progress, body) = RequestProgress::watch(body, limit.stall);
        let sent = tokio::select! {
            sent = self.runtime.send(Request::from_parts(parts, body)) => sent,
            () = progress.runtime_stalls(limit.response) => Err(Down::Timeout(limit.response)),
        };
        match (sent, progress.state()) {
            (Err(_), BodyState::Broken) => Err(Down::BrokenRequest),
            (Err(_), BodyState::Stalled) => Err(Down::StalledRequest(limit.stall)),
            (sent, _) => sent,
        }
    }
}
