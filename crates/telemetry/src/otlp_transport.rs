//! The HTTP transport for spans.

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

/// Sends requests on the tokio runtime. The exporter calls it from its own thread, which is not part of a runtime.
#[derive(Debug)]
pub(crate) struct OtlpTransport {
    pub(crate) http: reqwest::Client,
    pub(crate) runtime: Handle,
    pub(crate) tasks: TaskTracker,
}

#[async_trait]
impl HttpClient for OtlpTransport {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let http = self.http.clone();
        self.tasks.spawn_on(async move { http.send_bytes(request).await }, &self.runtime).await?
    }
}
