//! Trace context in request headers.

use http::HeaderMap;
use opentelemetry::{
    propagation::TextMapPropagator,
    trace::{SpanContext, TraceContextExt},
};
use opentelemetry_http::{HeaderExtractor, HeaderInjector};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// Makes `span` a child of the span that the request headers name, and sets its display name.
///
/// It does nothing if spans are not exported. Call it before the span is entered.
pub fn set_remote_parent(span: &Span, headers: &HeaderMap, name: impl FnOnce() -> String) {
    if span.is_disabled() {
        return;
    }
    let parent = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
    // This fails when spans are not exported; then nothing is to be done.
    let exported = span.set_parent(parent).is_ok();
    if exported {
        span.context().span().update_name(name());
    }
}

/// Adds the trace context of `span` to the headers of an outgoing request. Without an exported span they stay unchanged.
pub fn inject_trace_context(span: &Span, headers: &mut HeaderMap) {
    let context = span.context();
    if *context.span().span_context() != SpanContext::NONE {
        TraceContextPropagator::new().inject_context(&context, &mut HeaderInjector(headers));
    }
}
