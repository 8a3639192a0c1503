//! Links between spans of different traces.

use opentelemetry::trace::{SpanContext, TraceContextExt};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// Names an exported span, so that a later one can link to it: the two have a cause in common, but neither contains the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanLink(SpanContext);

impl SpanLink {
    /// A link to the current span, or `None` if spans are not exported.
    pub fn to_current() -> Option<Self> {
        let current = Span::current();
        if current.is_disabled() {
            return None;
        }
        let context = current.context().span().span_context().clone();
        context.is_valid().then_some(Self(context))
    }

    /// Adds the link to `span`.
    pub fn add_to(self, span: &Span) {
        span.add_link(self.0);
    }
}
