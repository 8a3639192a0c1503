//! Where the spans of a server go.

use clap::Args;
use telemetry::{Export, InvalidExport};
use tokio::runtime::Handle;

/// Where the spans of a server go; nowhere unless it is said.
#[derive(Debug, Default, Args)]
pub(crate) struct TraceOptions {
    /// A collector of OpenTelemetry that gets the traces, over OTLP/HTTP. Headers for it, such as
    /// its key, are taken from OTEL_EXPORTER_OTLP_HEADERS
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", hide_env_values = true, value_name = "URL")]
    otlp_endpoint: Option<String>,
}

impl TraceOptions {
    /// Exports what `service` does, on the threads of `runtime`, if that is wanted.
    pub(crate) fn export(
        &self,
        service: &'static str,
        runtime: &Handle,
    ) -> Result<Option<Export>, InvalidExport> {
        // A variable that is empty is one that is not set.
        let endpoint = self.otlp_endpoint.as_deref().filter(|endpoint| !endpoint.is_empty());
        endpoint.map(|endpoint| Export::new(endpoint, service, runtime.clone())).transpose()
    }
}
