//! A request and its answer: it gets a name, is a span, and is counted.

use std::{fmt::Display, sync::Arc, time::Instant};

use http::{Method, Request, Response, Uri};
use protocol::{ProblemKind, SessionId};
use tower::{Service, ServiceExt};
use tracing::{Instrument, Span, debug, field::Empty, info_span};

use crate::{Metrics, RequestId, Templates};

/// What each request passes first, and its answer last.
#[derive(Clone)]
pub(crate) struct Exchange {
    pub(crate) templates: Arc<Templates>,
    pub(crate) metrics: Metrics,
}

impl Exchange {
    /// Has a request answered by `service`.
    ///
    /// No system call, and no more than three small allocations; without a log or an export for it there is no span.
    pub(crate) fn carry<S, B, A>(
        &self,
        mut request: Request<B>,
        service: S,
    ) -> impl Future<Output = Result<Response<A>, S::Error>> + use<S, B, A>
    where
        S: Service<Request<B>, Response = Response<A>>,
        S::Error: Display,
    {
        let started = Instant::now();
        let id = RequestId::settle(request.headers_mut());
        let route = self.templates.find(request.uri().path()).clone();
        let method = request.method().clone();
        let span = span(&id, &method, &route, request.uri());
        telemetry::adopt(&span, request.headers(), || format!("{method} {route}"));
        let metrics = self.metrics.clone();
        let answering = id.clone().during(service.oneshot(request));
        let record = span.clone();
        async move {
            let mut answer = answering.await?;
            id.put(answer.headers_mut());
            let (status, elapsed) = (answer.status(), started.elapsed());
            record.record("status", status.as_u16());
            debug!(elapsed_us = elapsed.as_micros() as u64, "answered");
            metrics.answered(route, &method, status, elapsed);
            // Taken from it, so that who passes the answer on within the process does not count it too.
            if let Some(kind) = answer.extensions_mut().remove::<ProblemKind>() {
                metrics.refused(kind);
            }
            Ok(answer)
        }
        .instrument(span)
    }
}

fn span(id: &RequestId, method: &Method, route: &str, uri: &Uri) -> Span {
    let span = info_span!(
        "request",
        id = id.as_str(),
        %method,
        route,
        runtime = Empty,
        session = Empty,
        instance = Empty,
        status = Empty,
        otel.kind = "server",
    );
    if !span.is_disabled() {
        name(&span, uri.path());
    }
    span
}

/// Notes what a request is about, as its path says it.
fn name(span: &Span, path: &str) {
    let mut before = "";
    for segment in path.split('/') {
        let field = match before {
            "runtimes" => Some("runtime"),
            "sessions" | "workers" => Some("session"),
            "acp" => Some("instance"),
            _ => None,
        };
        // All of them are names by the same rule; whatever else stands there is not to be in the log.
        if let Some(field) = field
            && segment.parse::<SessionId>().is_ok()
        {
            span.record(field, segment);
        }
        before = segment;
    }
}
