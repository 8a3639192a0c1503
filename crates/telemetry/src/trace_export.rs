//! The export of spans to a collector.

use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider};
use reqwest::{Url, redirect};
use tokio::runtime::Handle;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::{Layer, filter::filter_fn, registry::LookupSpan};

use crate::{otlp_transport::OtlpTransport, trace_service::TraceService};

/// The maximum number of queued spans; further ones are dropped, which is logged. A span takes about 1 KiB.
const QUEUED_SPANS_MAX: usize = 2048;

/// The maximum number of spans in one request.
const BATCH_SPANS_MAX: usize = 512;

/// The interval between requests.
const EXPORT_INTERVAL: Duration = Duration::from_secs(1);

/// The timeout of a request to the collector.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a shutdown waits for the last spans to be sent.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// The path of the collector for spans, as URL segments.
const TRACES_PATH: [&str; 2] = ["v1", "traces"];

/// The crates whose spans are exported; spans of libraries are not.
const EXPORTED_CRATES: [&str; 3] = ["hub", "server", "worker_runtime"];

/// The address of a collector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceCollector {
    /// Spans go to `/v1/traces` below this URL.
    Base(String),
    /// Spans go to exactly this URL.
    TracesUrl(String),
}

/// Exports the spans of this process to a collector until it is shut down.
///
/// A separate thread sends them from a bounded queue. A slow or unreachable collector delays nothing; spans that do not fit into
/// the queue are dropped.
#[derive(Debug)]
pub struct TraceExport {
    provider: SdkTracerProvider,
}

/// Why spans cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum InvalidExport {
    /// The address is invalid.
    #[error("`{0}` is not the address of a collector, such as http://127.0.0.1:4318")]
    Endpoint(String),
    /// The HTTP client could not be created.
    #[error("could not create the HTTP client for the collector")]
    Client(#[source] reqwest::Error),
    /// The exporter's settings in the environment (`OTEL_…`) are invalid.
    #[error("could not set up the export of traces; check the OTEL_ environment variables")]
    Exporter(#[source] opentelemetry_otlp::ExporterBuildError),
}

impl TraceExport {
    /// Exports the spans of `service` to `collector`, with requests on `runtime`.
    ///
    /// The OpenTelemetry SDK reads some variables itself: headers for the collector, such as an API key, from
    /// `OTEL_EXPORTER_OTLP_TRACES_HEADERS` or `OTEL_EXPORTER_OTLP_HEADERS`, and the sampler from `OTEL_TRACES_SAMPLER` and
    /// `OTEL_TRACES_SAMPLER_ARG`.
    ///
    /// # Errors
    /// When the address or the environment is invalid. The collector is not contacted yet.
    pub fn new(
        collector: &TraceCollector,
        service: TraceService,
        runtime: Handle,
    ) -> Result<Self, InvalidExport> {
        let http = reqwest::Client::builder().timeout(REQUEST_TIMEOUT).redirect(redirect::Policy::none());
        let http = http.build().map_err(InvalidExport::Client)?;
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_endpoint(collector.traces_url()?)
            .with_timeout(REQUEST_TIMEOUT)
            .with_http_client(OtlpTransport { http, runtime, tasks: Default::default() })
            .build()
            .map_err(InvalidExport::Exporter)?;
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUED_SPANS_MAX)
            .with_max_export_batch_size(BATCH_SPANS_MAX)
            .with_scheduled_delay(EXPORT_INTERVAL)
            .build();
        let processor = BatchSpanProcessor::builder(exporter).with_batch_config(batches).build();
        let resource = service.into_resource();
        let provider =
            SdkTracerProvider::builder().with_span_processor(processor).with_resource(resource).build();
        Ok(Self { provider })
    }

    /// The subscriber layer that collects spans: only those of our crates, without the log events in them.
    pub fn layer<S: Subscriber + for<'a> LookupSpan<'a> + Send + Sync>(
        &self,
    ) -> impl Layer<S> + Send + Sync + use<S> {
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("tombolo"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_filter(filter_fn(is_exported))
    }

    /// Sends the remaining spans, within a time limit. Blocks.
    pub fn shutdown(self) {
        // A collector that does not accept them must not delay the exit.
        let _ = self.provider.shutdown_with_timeout(SHUTDOWN_TIMEOUT);
    }
}

fn is_exported(metadata: &Metadata<'_>) -> bool {
    let crate_name = metadata.target().split("::").next().unwrap_or_default();
    metadata.is_span() && *metadata.level() <= tracing::Level::INFO && EXPORTED_CRATES.contains(&crate_name)
}

impl TraceCollector {
    /// The URL that spans are sent to.
    fn traces_url(&self) -> Result<String, InvalidExport> {
        let (Self::Base(address) | Self::TracesUrl(address)) = self;
        let invalid = || InvalidExport::Endpoint(address.clone());
        let mut url: Url = address.parse().map_err(|_| invalid())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(invalid());
        }
        if let Self::Base(_) = self {
            url.path_segments_mut().map_err(|()| invalid())?.pop_if_empty().extend(TRACES_PATH);
        }
        Ok(url.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_traces_path_is_appended_to_the_collector_address() {
        let traces_url = |base: &str| TraceCollector::Base(base.into()).traces_url();
        assert_eq!(traces_url("http://127.0.0.1:4318").unwrap(), "http://127.0.0.1:4318/v1/traces");
        assert_eq!(traces_url("https://o.example/otlp/").unwrap(), "https://o.example/otlp/v1/traces");
        for invalid in ["", "here", "ftp://o.example", "mailto:o"] {
            assert!(traces_url(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn the_url_for_traces_is_taken_as_it_is() {
        let url = TraceCollector::TracesUrl("http://127.0.0.1:4318/spans".into()).traces_url();
        assert_eq!(url.unwrap(), "http://127.0.0.1:4318/spans");
    }
}
