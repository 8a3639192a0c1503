//! Spans on their way to a collector.

use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    trace::{BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider},
};
use reqwest::{Url, redirect};
use tokio::runtime::Handle;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::{Layer, filter::filter_fn, registry::LookupSpan};

use crate::transport::Transport;

/// How many spans wait for the collector; more are dropped, and that is logged. A span is 1 KiB or so.
const SPANS_MAX: usize = 2048;

/// How many go at a time.
const BATCH_MAX: usize = 512;

/// How long a span waits for others to go with.
const GATHER: Duration = Duration::from_secs(1);

/// How long a collector may take to answer.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// How long the end waits for the last spans to be taken.
const FAREWELL: Duration = Duration::from_secs(2);

/// Where a collector takes spans, below its address.
const TRACES: [&str; 2] = ["v1", "traces"];

/// Whose spans are exported: ours, and never what the libraries below say.
const TARGETS: [&str; 3] = ["hub", "server", "worker_runtime"];

/// Hands the spans of this program to a collector, until it is ended.
///
/// They wait in a bounded queue for a thread of their own. A collector that is slow or not there slows nothing; what does
/// not fit is dropped.
#[derive(Debug)]
pub struct Export {
    provider: SdkTracerProvider,
}

/// Why spans cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum InvalidExport {
    /// The address makes no sense.
    #[error("`{0}` is not the address of a collector, such as http://127.0.0.1:4318")]
    Endpoint(String),
    /// There is nothing to send with.
    #[error("could not prepare to speak to the collector")]
    Client(#[source] reqwest::Error),
    /// What is said of it in the environment (`OTEL_…`) makes no sense.
    #[error("could not prepare to export spans")]
    Exporter(#[source] opentelemetry_otlp::ExporterBuildError),
}

impl Export {
    /// Exports to the collector at `endpoint` what `service` does, on the threads of `runtime`.
    ///
    /// Headers for the collector, such as its key, are taken from `OTEL_EXPORTER_OTLP_HEADERS`.
    ///
    /// # Errors
    /// If the address or what is said in the environment makes no sense. Nobody is spoken to yet.
    pub fn new(endpoint: &str, service: &'static str, runtime: Handle) -> Result<Self, InvalidExport> {
        let http = reqwest::Client::builder().timeout(ANSWER_MAX).redirect(redirect::Policy::none());
        let http = http.build().map_err(InvalidExport::Client)?;
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_endpoint(traces(endpoint)?)
            .with_timeout(ANSWER_MAX)
            .with_http_client(Transport { http, runtime, tasks: Default::default() })
            .build()
            .map_err(InvalidExport::Exporter)?;
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(SPANS_MAX)
            .with_max_export_batch_size(BATCH_MAX)
            .with_scheduled_delay(GATHER)
            .build();
        let processor = BatchSpanProcessor::builder(exporter).with_batch_config(batches).build();
        let resource = Resource::builder().with_service_name(service).build();
        let provider =
            SdkTracerProvider::builder().with_span_processor(processor).with_resource(resource).build();
        Ok(Self { provider })
    }

    /// What sees the spans. Only ours, and nothing of what is logged in them.
    pub fn layer<S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync>(
        &self,
    ) -> impl Layer<S> + Send + Sync + use<S> {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("tombolo"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_filter(filter_fn(is_ours))
    }

    /// Hands over what is left, within a limit. Blocks.
    pub fn end(self) {
        // A collector that does not take it is no reason to stay.
        let _ = self.provider.shutdown_with_timeout(FAREWELL);
    }
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    let part = metadata.target().split("::").next().unwrap_or_default();
    metadata.is_span() && *metadata.level() <= tracing::Level::INFO && TARGETS.contains(&part)
}

fn traces(endpoint: &str) -> Result<String, InvalidExport> {
    let invalid = || InvalidExport::Endpoint(endpoint.into());
    let mut url: Url = endpoint.parse().map_err(|_| invalid())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid());
    }
    url.path_segments_mut().map_err(|()| invalid())?.pop_if_empty().extend(TRACES);
    Ok(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_go_below_the_address_of_the_collector() {
        assert_eq!(traces("http://127.0.0.1:4318").unwrap(), "http://127.0.0.1:4318/v1/traces");
        assert_eq!(traces("https://o.example/otlp/").unwrap(), "https://o.example/otlp/v1/traces");
        for senseless in ["", "here", "ftp://o.example", "mailto:o"] {
            assert!(traces(senseless).is_err(), "{senseless}");
        }
    }
}
