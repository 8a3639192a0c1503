//! Gives each request an id and a tracing span, and counts it.

use std::{fmt::Display, sync::Arc, time::Instant};

use http::{Method, Request, Response, Uri};
use protocol::{ProblemKind, SessionId};
use telemetry::HttpSide;
use tower::{Service, ServiceExt};
use tracing::{Instrument, Span, debug, field::Empty, info_span};

use crate::{HttpMetrics, RequestId, RouteTemplates, route_templates::NO_ROUTE};

/// Wraps the handling of every request, outside all other layers.
#[derive(Clone)]
pub(crate) struct RequestTracker {
    pub(crate) templates: Arc<RouteTemplates>,
    pub(crate) metrics: HttpMetrics,
}

impl RequestTracker {
    /// Calls `service` with the request, and records the response.
    ///
    /// This is on the path of every request: it makes no system call and at most three small allocations, and creates no
    /// span unless a log or exporter wants it.
    pub(crate) fn track<S, B, A>(
        &self,
        mut request: Request<B>,
        service: S,
    ) -> impl Future<Output = Result<Response<A>, S::Error>> + use<S, B, A>
    where
        S: Service<Request<B>, Response = Response<A>>,
        S::Error: Display,
    {
        let started = Instant::now();
        let id = RequestId::get_or_insert(request.headers_mut());
        let route = self.templates.find(request.uri().path()).clone();
        let method = request.method().clone();
        let span = request_span(&id, &method, &route, request.uri());
        telemetry::set_remote_parent(&span, request.headers(), || span_name(&method, &route));
        telemetry::record_request(&span, &request);
        let metrics = self.metrics.clone();
        let handling = id.clone().scope(service.oneshot(request));
        let recorded_span = span.clone();
        async move {
            let mut response = handling.await?;
            id.insert_into(response.headers_mut());
            let status = response.status();
            let elapsed = started.elapsed();
            telemetry::record_response(&recorded_span, HttpSide::Server, status);
            debug!(elapsed_us = elapsed.as_micros() as u64, "response started");
            metrics.count_response(route, &method, status, elapsed);
            // Removed from the response, so that it is not counted twice if the hub forwards it within this process.
            if let Some(kind) = response.extensions_mut().remove::<ProblemKind>() {
                metrics.count_problem(kind);
            }
            Ok(response)
        }
        .instrument(span)
    }
}

fn request_span(id: &RequestId, method: &Method, route: &str, uri: &Uri) -> Span {
    let span = info_span!(
        "request",
        id = id.as_str(),
        http.request.method = %telemetry::method_name(method),
        http.route = (route != NO_ROUTE).then_some(route),
        runtime = Empty,
        session = Empty,
        instance = Empty,
        http.response.status_code = Empty,
        otel.kind = "server",
    );
    if !span.is_disabled() {
        record_resources(&span, uri.path());
    }
    span
}

/// The name of an exported span. It has few values, as the semantic conventions ask.
fn span_name(method: &Method, route: &str) -> String {
    let method = telemetry::method_name(method);
    if route == NO_ROUTE { method.to_owned() } else { format!("{method} {route}") }
}

/// Records the ids of the runtime, session and instance that appear in the path.
fn record_resources(span: &Span, path: &str) {
    let mut previous = "";
    for segment in path.split('/') {
        let field = match previous {
            "runtimes" => Some("runtime"),
            "sessions" | "workers" => Some("session"),
            "acp" => Some("instance"),
            _ => None,
        };
        // All three kinds of ids have the same syntax. Anything else in this place was not checked, and stays out of the log.
        if let Some(field) = field
            && segment.parse::<SessionId>().is_ok()
        {
            span.record(field, segment);
        }
        previous = segment;
    }
}
