//! Traces: exports spans to an OpenTelemetry collector.
//!
//! A [`TraceExport`] sends spans to a collector over OTLP/HTTP. [`set_remote_parent`] and [`inject_trace_context`] connect the
//! spans on both sides of a request to one trace (W3C `traceparent`). Without an export all of this is free: no thread runs, and
//! headers pass unchanged.

mod otlp_transport;
mod trace_context;
mod trace_export;

pub use trace_context::{inject_trace_context, set_remote_parent};
pub use trace_export::{InvalidExport, TraceExport};
