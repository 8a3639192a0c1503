//! A collector of OpenTelemetry: takes spans over OTLP/HTTP and keeps them.

use std::sync::Arc;

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, routing::post};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    trace::v1::Span,
};
use parking_lot::Mutex;
use prost::Message;
use testkit::within;
use tokio::net::TcpListener;

use crate::secs;

/// A running collector.
pub(super) struct Collector {
    pub(super) endpoint: String,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    spans: Vec<(String, Span)>,
    headers: Vec<HeaderMap>,
    /// The attributes of the processes that sent spans.
    resources: Vec<Vec<KeyValue>>,
}

impl Collector {
    pub(super) async fn start() -> Self {
        let kept = Arc::new(Mutex::new(Kept::default()));
        let router = Router::new()
            .route("/v1/traces", post(take))
            .route("/spans", post(take))
            .with_state(kept.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        tokio_util::task::TaskTracker::new().spawn(async { axum::serve(listener, router).await });
        Self { endpoint, kept }
    }

    /// The span of a service that has this name, once it came.
    pub(super) async fn span(&self, service: &str, name: &str) -> Span {
        self.find(service, |span| span.name == name).await
    }

    /// A span of a service that fits, once it came.
    pub(super) async fn find(&self, service: &str, fits: impl Fn(&Span) -> bool) -> Span {
        let found = || {
            let kept = self.kept.lock();
            let found = kept.spans.iter().find(|(of, span)| of == service && fits(span));
            found.map(|(_, span)| span.clone())
        };
        within(secs(20), async {
            loop {
                if let Some(span) = found() {
                    return span;
                }
                tokio::task::yield_now().await;
            }
        })
        .await
    }

    /// The attributes of the process that sent spans first.
    pub(super) fn resource(&self) -> Vec<KeyValue> {
        self.kept.lock().resources.first().cloned().unwrap_or_default()
    }

    /// The names of all spans that came.
    pub(super) fn names(&self) -> Vec<String> {
        self.kept.lock().spans.iter().map(|(_, span)| span.name.clone()).collect()
    }

    /// All that came, for whoever looks for what should not be there.
    pub(super) fn everything(&self) -> String {
        format!("{:?}", self.kept.lock().spans)
    }

    /// The values of a header that came with spans.
    pub(super) fn header(&self, name: &str) -> Vec<String> {
        let kept = self.kept.lock();
        let values = kept.headers.iter().map(|headers| headers.get(name));
        values.map(|value| value.map_or_else(String::new, |value| value.to_str().unwrap().into())).collect()
    }
}

/// An attribute as a string, or else as Rust prints it: `IntValue(404)`.
pub(super) fn attribute(attributes: &[KeyValue], name: &str) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.key == name)?;
    Some(match attribute.value.clone()?.value? {
        Value::StringValue(text) => text,
        other => format!("{other:?}"),
    })
}

async fn take(State(kept): State<Arc<Mutex<Kept>>>, headers: HeaderMap, body: Bytes) -> Vec<u8> {
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    let mut kept = kept.lock();
    kept.headers.push(headers);
    for of in request.resource_spans {
        let attributes = of.resource.unwrap_or_default().attributes;
        let service = attribute(&attributes, "service.name").unwrap();
        kept.resources.push(attributes);
        for span in of.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            kept.spans.push((service.clone(), span));
        }
    }
    Vec::new()
}
