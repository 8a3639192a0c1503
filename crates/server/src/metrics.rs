//! What is counted, and the page that shows it.

mod process;

use std::{fmt, sync::Arc, time::Duration};

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, Method, StatusCode, header};
use prometheus_client::{
    encoding::{EncodeLabelSet, text},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};
use protocol::ProblemKind;

use crate::{Refusal, Result};

/// What the page is, as those who collect it know it.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What the names of our own begin with.
const PREFIX: &str = "tombolo";

/// How long requests take, in seconds: most less than a millisecond, some as long as an agent thinks.
const DURATIONS: [f64; 9] = [0.000_5, 0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0];

/// What is counted of requests and connections. Clones count together.
#[derive(Debug, Clone)]
pub struct Metrics(Arc<Numbers>);

#[derive(Debug)]
struct Numbers {
    requests: Family<Asked, Histogram>,
    problems: Family<[(&'static str, &'static str); 1], Counter>,
    connections: Gauge,
}

/// What kind of request it was: a few hundred at most, whatever is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Asked {
    route: Arc<str>,
    method: &'static str,
    status: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        let histogram: fn() -> Histogram = || Histogram::new(DURATIONS);
        let requests = Family::new_with_constructor(histogram);
        let (problems, connections) = (Family::default(), Gauge::default());
        Self(Arc::new(Numbers { requests, problems, connections }))
    }
}

impl Metrics {
    /// Tells what was counted.
    pub fn register(&self, registry: &mut Registry) {
        registry.register_with_unit(
            "http_request_duration",
            "Requests, and how long it took until their answers began",
            Unit::Seconds,
            self.0.requests.clone(),
        );
        let help = "Requests that were refused or failed here, by the problem that was told";
        registry.register("http_problems", help, self.0.problems.clone());
        registry.register("http_connections", "Connections that are open", self.0.connections.clone());
    }

    /// Counts a connection, until that is dropped.
    pub(crate) fn connected(&self) -> Connected {
        self.0.connections.inc();
        Connected(self.0.connections.clone())
    }

    /// Counts a request that was answered.
    pub(crate) fn answered(&self, route: Arc<str>, method: &Method, status: StatusCode, elapsed: Duration) {
        let asked = Asked { route, method: known(method), status: class(status) };
        self.0.requests.get_or_create(&asked).observe(elapsed.as_secs_f64());
    }

    /// Counts what went wrong with it.
    pub(crate) fn refused(&self, kind: ProblemKind) {
        self.0.problems.get_or_create(&[("problem", kind.slug())]).inc();
    }
}

/// A connection that is open.
pub(crate) struct Connected(Gauge);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// A method as it is counted: those that people make up are one.
fn known(method: &Method) -> &'static str {
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

fn class(status: StatusCode) -> &'static str {
    match status.as_u16() / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}

/// The page: what the process takes, and what `fill` adds under our own name.
pub fn page(fill: impl FnOnce(&mut Registry)) -> Result<Response> {
    let mut registry = Registry::default();
    process::register(&mut registry);
    fill(registry.sub_registry_with_prefix(PREFIX));
    let mut page = String::new();
    text::encode(&mut page, &registry).map_err(|fmt::Error| Refusal::internal(&fmt::Error))?;
    let mut response = Body::from(page).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_asked_the_kinds_are_few() {
        let metrics = Metrics::default();
        let route: Arc<str> = "none".into();
        for status in 100..1000 {
            for method in ["GET", "BREW", "MELT"] {
                let (method, status) = (method.parse().unwrap(), StatusCode::from_u16(status).unwrap());
                metrics.answered(route.clone(), &method, status, Duration::ZERO);
            }
        }
        let mut registry = Registry::default();
        metrics.register(&mut registry);
        let mut page = String::new();
        text::encode(&mut page, &registry).unwrap();
        assert_eq!(page.matches("_count{").count(), 5 * 2, "{page}");
    }
}
