//! One trace on both sides of a request.

use http::HeaderMap;
use opentelemetry::{
    propagation::TextMapPropagator,
    trace::{SpanContext, TraceContextExt},
};
use opentelemetry_http::{HeaderExtractor, HeaderInjector};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// Makes `span` part of the trace that the request came with, and names it for those who look at the trace.
///
/// Nothing happens if no span is exported. To be called before anything happens in the span.
pub fn adopt(span: &Span, headers: &HeaderMap, name: impl FnOnce() -> String) {
    if span.is_disabled() {
        return;
    }
    let parent = TraceContextPropagator::new().extract(&HeaderExtractor(headers));
    // It fails if spans are not exported, and then there is nothing to do.
    let exported = span.set_parent(parent).is_ok();
    if exported {
        span.context().span().update_name(name());
    }
}

/// Tells whoever gets the request which span it belongs to. Without one the headers stay as they are.
pub fn pass_on(span: &Span, headers: &mut HeaderMap) {
    let context = span.context();
    if *context.span().span_context() != SpanContext::NONE {
        TraceContextPropagator::new().inject_context(&context, &mut HeaderInjector(headers));
    }
}
