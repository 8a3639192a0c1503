//! How spans travel: with the client of the rest of the program, on its threads.

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

/// Sends from the thread that gathers spans, which is none of tokio's.
#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) http: reqwest::Client,
    pub(crate) runtime: Handle,
    pub(crate) tasks: TaskTracker,
}

#[async_trait]
impl HttpClient for Transport {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let http = self.http.clone();
        self.tasks.spawn_on(async move { http.send_bytes(request).await }, &self.runtime).await?
    }
}
