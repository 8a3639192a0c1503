//! Traces: spans of ours, as a collector of OpenTelemetry gets them.
//!
//! An [`Export`] hands every span to a collector, over OTLP/HTTP. [`adopt`] and [`pass_on`] make one trace of what happens
//! on both sides of a request (W3C `traceparent`). Without an export nothing of this costs anything: no thread runs, and
//! headers pass as they are.

mod context;
mod export;
mod transport;

pub use context::{adopt, pass_on};
pub use export::{Export, InvalidExport};
