//! The export of traces.

use clap::Args;
use telemetry::{InvalidExport, TraceExport};
use tokio::runtime::Handle;

/// The options for exporting traces; off by default.
#[derive(Debug, Default, Args)]
pub(crate) struct TraceOptions {
    /// Send traces to this OpenTelemetry collector over OTLP/HTTP; set request headers, such as an
    /// API key, in OTEL_EXPORTER_OTLP_HEADERS
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", hide_env_values = true, value_name = "URL")]
    otlp_endpoint: Option<String>,
}

impl TraceOptions {
    /// Starts the export of spans under the name `service` on `runtime`, if a collector is configured.
    pub(crate) fn export(
        &self,
        service: &'static str,
        runtime: &Handle,
    ) -> Result<Option<TraceExport>, InvalidExport> {
        // The OpenTelemetry specification treats an empty variable as unset.
        let endpoint = self.otlp_endpoint.as_deref().filter(|endpoint| !endpoint.is_empty());
        endpoint.map(|endpoint| TraceExport::new(endpoint, service, runtime.clone())).transpose()
    }
}
