//! The way to a runtime, whichever it is: what is asked of it carries the id and the trace of who asks.

use std::{sync::Arc, time::Duration};

use axum::body::Body;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use protocol::RuntimeId;
use server::RequestId;
use tracing::{Instrument, info_span};

use super::{Down, Runtime};
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
        let span = info_span!("forward", id = id.as_str(), runtime = %self.id, otel.kind = "client");
        telemetry::inject_trace_context(&span, request.headers_mut());
        let answer = async move {
            let answer = self.runtime.send(request).await;
            self.reach.note(!matches!(answer, Err(Down::Unreachable)));
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
