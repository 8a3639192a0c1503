//! Traces: exports spans to an OpenTelemetry collector.
//!
//! A [`TraceExport`] sends spans to a collector over OTLP/HTTP. [`set_remote_parent`] and [`inject_trace_context`] connect the
//! spans on both sides of a request to one trace (W3C `traceparent`); a [`SpanLink`] connects a span to one of another trace.
//! Spans of HTTP requests have the attributes of OpenTelemetry's semantic conventions. Without an export all of this is free: no
//! thread runs, and headers pass unchanged.

mod http_span;
mod otlp_transport;
mod span_link;
mod trace_context;
mod trace_export;
mod trace_service;

pub use http_span::{HttpSide, method_name, record_failure, record_request, record_response};
pub use span_link::SpanLink;
pub use trace_context::{inject_trace_context, set_remote_parent};
pub use trace_export::{InvalidExport, TraceCollector, TraceExport};
pub use trace_service::TraceService;
