//! HTTP metrics, and the page that exports all metrics of a server.

mod format;
mod process;

use std::{fmt, sync::Arc, time::Duration};

use axum::response::{IntoResponse, Response};
use http::{Method, StatusCode, header};
use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};
use protocol::ProblemKind;

use crate::{ProblemResponse, Result};

pub use format::MetricsFormat;

/// The prefix of all our metric names.
const PREFIX: &str = "tombolo";

/// Histogram buckets for request durations, in seconds. Most requests take less than a millisecond, but some wait for an
/// agent.
const DURATION_BUCKETS: [f64; 9] = [0.000_5, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0];

/// Counts requests and connections. Clones share the counters.
#[derive(Debug, Clone)]
pub struct HttpMetrics(Arc<HttpCounters>);

#[derive(Debug)]
struct HttpCounters {
    requests: Family<RequestLabels, Histogram>,
    problems: Family<[(&'static str, &'static str); 1], Counter>,
    connections: Gauge,
}

/// The labels of a request. All three have few values, whatever clients send, so that the metrics stay bounded.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: Arc<str>,
    method: &'static str,
    status: &'static str,
}

impl Default for HttpMetrics {
    fn default() -> Self {
        let histogram: fn() -> Histogram = || Histogram::new(DURATION_BUCKETS);
        let requests = Family::new_with_constructor(histogram);
        Self(Arc::new(HttpCounters { requests, problems: Family::default(), connections: Gauge::default() }))
    }
}

impl HttpMetrics {
    /// Adds the metrics to `registry`.
    pub fn register(&self, registry: &mut Registry) {
        registry.register_with_unit(
            "http_request_duration",
            "Time from receiving a request to starting its response",
            Unit::Seconds,
            self.0.requests.clone(),
        );
        let help = "Requests that were rejected or failed, by problem kind";
        registry.register("http_problems", help, self.0.problems.clone());
        registry.register("http_connections", "Open connections", self.0.connections.clone());
    }

    /// Counts a connection as open until the guard is dropped.
    pub(crate) fn count_connection(&self) -> ConnectionGuard {
        self.0.connections.inc();
        ConnectionGuard(self.0.connections.clone())
    }

    /// Counts a request whose response started.
    pub(crate) fn count_response(
        &self,
        route: Arc<str>,
        method: &Method,
        status: StatusCode,
        elapsed: Duration,
    ) {
        let labels = RequestLabels { route, method: method_label(method), status: status_class(status) };
        self.0.requests.get_or_create(&labels).observe(elapsed.as_secs_f64());
    }

    /// Counts a problem response.
    pub(crate) fn count_problem(&self, kind: ProblemKind) {
        self.0.problems.get_or_create(&[("problem", kind.slug())]).inc();
    }
}

/// Counts one connection as open.
pub(crate) struct ConnectionGuard(Gauge);

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// The label of a method. Clients can invent methods, so all unknown ones share a label.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

fn status_class(status: StatusCode) -> &'static str {
    match status.as_u16() / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}

/// Renders the metrics of the process, and the ones that `fill` adds under our prefix.
pub fn page(format: MetricsFormat, fill: impl FnOnce(&mut Registry)) -> Result<Response> {
    let mut registry = Registry::default();
    process::register(&mut registry);
    fill(registry.sub_registry_with_prefix(PREFIX));
    let mut page = String::new();
    let written = text::encode(&mut page, &registry).and_then(|()| format.convert(page));
    let page = written.map_err(|fmt::Error| ProblemResponse::internal(&fmt::Error))?;
    let headers = [(header::CONTENT_TYPE, format.content_type()), (header::VARY, header::ACCEPT.as_str())];
    Ok((headers, page).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_label_values_is_bounded() {
        let metrics = HttpMetrics::default();
        let route: Arc<str> = "none".into();
        for status in 100..1000 {
            for method in ["GET", "BREW", "MELT"] {
                let (method, status) = (method.parse().unwrap(), StatusCode::from_u16(status).unwrap());
                metrics.count_response(route.clone(), &method, status, Duration::ZERO);
            }
        }
        let mut registry = Registry::default();
        metrics.register(&mut registry);
        let mut page = String::new();
        text::encode(&mut page, &registry).unwrap();
        assert_eq!(page.matches("_count{").count(), 5 * 2, "{page}");
    }
}
