//! HTTP requests as spans, by the semantic conventions of OpenTelemetry.
//!
//! The span declares the fields `http.request.method` and `http.response.status_code`, and `http.route` if it has one.

use http::{Method, Request, StatusCode, Version};
use opentelemetry::trace::Status;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// The maximum length of a recorded path, in bytes; the rest is cut off. Paths of our routes are shorter.
const URL_PATH_MAX: usize = 1024;

/// The value of `http.request.method` for methods that clients invent, whose number would be unbounded.
const OTHER_METHOD: &str = "_OTHER";

/// Which side of a request a span is about. It decides whether a 4xx response is an error: it is the client's mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpSide {
    /// This process sent the request.
    Client,
    /// This process answers the request.
    Server,
}

/// The value of `http.request.method`.
pub fn method_name(method: &Method) -> &str {
    match *method {
        Method::GET
        | Method::POST
        | Method::PUT
        | Method::PATCH
        | Method::DELETE
        | Method::HEAD
        | Method::OPTIONS
        | Method::TRACE
        | Method::CONNECT => method.as_str(),
        _ => OTHER_METHOD,
    }
}

/// Adds the path, scheme and protocol version of `request` to its span. Only the export has them: the path is not checked, and
/// stays out of the log. The query is not recorded, because it may contain what a user wants to keep private.
pub fn record_request<B>(span: &Span, request: &Request<B>) {
    if span.is_disabled() {
        return;
    }
    let path = request.uri().path();
    span.set_attribute("url.path", path[..path.floor_char_boundary(URL_PATH_MAX)].to_owned());
    // The servers do not terminate TLS themselves.
    span.set_attribute("url.scheme", "http");
    if let Some(version) = version_number(request.version()) {
        span.set_attribute("network.protocol.version", version);
    }
}

/// Records the status of the response, and marks the span as failed if that is an error.
pub fn record_response(span: &Span, side: HttpSide, status: StatusCode) {
    if span.is_disabled() {
        return;
    }
    span.record("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() || (side == HttpSide::Client && status.is_client_error()) {
        record_failure(span, status.as_str().to_owned());
    }
}

/// Marks the span as failed. `error_type` is the class of the error: it has few values.
pub fn record_failure(span: &Span, error_type: impl Into<String>) {
    span.set_attribute("error.type", error_type.into());
    span.set_status(Status::error(""));
}

fn version_number(version: Version) -> Option<&'static str> {
    match version {
        Version::HTTP_10 => Some("1.0"),
        Version::HTTP_11 => Some("1.1"),
        Version::HTTP_2 => Some("2"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invented_method_has_no_name_of_its_own() {
        assert_eq!(method_name(&Method::PATCH), "PATCH");
        assert_eq!(method_name(&Method::from_bytes(b"BREW").unwrap()), OTHER_METHOD);
    }
}
