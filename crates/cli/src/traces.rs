//! The export of traces.

use clap::Args;
use telemetry::{InvalidExport, TraceCollector, TraceExport, TraceService};
use tokio::runtime::Handle;

use crate::environment;

/// The options for exporting traces; off by default.
#[derive(Debug, Default, Args)]
pub(crate) struct TraceOptions {
    /// Send traces to this OpenTelemetry collector over OTLP/HTTP; the standard OTEL_ variables
    /// apply too [default: the one in OTEL_EXPORTER_OTLP_ENDPOINT]
    #[arg(long, value_name = "URL")]
    otlp_endpoint: Option<String>,
}

impl TraceOptions {
    /// Starts the export of spans on `runtime`, if a collector is configured. The service is called `service` unless the
    /// environment names it.
    pub(crate) fn export(
        &self,
        service: &str,
        runtime: &Handle,
    ) -> Result<Option<TraceExport>, InvalidExport> {
        if is_disabled() {
            return Ok(None);
        }
        let collector = self.collector();
        collector
            .map(|collector| TraceExport::new(&collector, resource(service), runtime.clone()))
            .transpose()
    }

    fn collector(&self) -> Option<TraceCollector> {
        let option = self.otlp_endpoint.clone().map(TraceCollector::Base);
        let traces = || text("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").map(TraceCollector::TracesUrl);
        let all = || text("OTEL_EXPORTER_OTLP_ENDPOINT").map(TraceCollector::Base);
        option.or_else(traces).or_else(all)
    }
}

/// Whether the user switched off OpenTelemetry, or the export of traces.
fn is_disabled() -> bool {
    text("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"))
        || text("OTEL_TRACES_EXPORTER").is_some_and(|value| value.eq_ignore_ascii_case("none"))
}

fn resource(service: &str) -> TraceService {
    let mut resource = TraceService::new(service, env!("CARGO_PKG_VERSION"));
    if let Some(attributes) = text("OTEL_RESOURCE_ATTRIBUTES") {
        resource = resource.with_attributes(&attributes);
    }
    match text("OTEL_SERVICE_NAME") {
        Some(name) => resource.with_name(&name),
        None => resource,
    }
}

/// A variable of the OpenTelemetry specification, which treats an empty one as unset.
fn text(name: &str) -> Option<String> {
    environment::variable(name)?.into_string().ok()
}
