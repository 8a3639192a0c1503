//! Errors at the edge: every failure leaves as a problem document.

use std::{error, time::Duration};

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use protocol::{ErrorChain, Problem, ProblemKind};
use tracing::error;

use crate::RequestId;

/// The default for the header `Retry-After`.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The response to a request that failed.
#[derive(Debug)]
pub struct ProblemResponse {
    problem: Box<Problem>,
    /// Overrides [`RETRY_AFTER`].
    retry_after: Option<Duration>,
}

/// The result of handling a request.
pub type Result<T> = std::result::Result<T, ProblemResponse>;

impl ProblemResponse {
    /// A problem of this kind. `detail` is a sentence for people.
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Problem::new(kind, detail).into()
    }

    /// An unexpected error: logs the cause, and hides it from the client.
    pub fn internal(error: &dyn error::Error) -> Self {
        let request = RequestId::current();
        error!(request = request.as_ref().map(RequestId::as_str), error = %ErrorChain(error), "a request failed");
        Self::new(ProblemKind::Internal, "an unexpected error occurred; the server's log has the cause")
    }

    /// Sets the header `Retry-After`.
    #[must_use]
    pub fn retry_after(mut self, after: Duration) -> Self {
        self.retry_after = Some(after);
        self
    }

    /// The problem document.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl From<Problem> for ProblemResponse {
    fn from(problem: Problem) -> Self {
        Self { problem: Box::new(problem), retry_after: None }
    }
}

impl IntoResponse for ProblemResponse {
    fn into_response(mut self) -> Response {
        self.problem.request_id = RequestId::current().map(|id| id.as_str().to_owned());
        let status = StatusCode::from_u16(self.problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let kind = self.problem.kind;
        let mut response = (status, Json(self.problem)).into_response();
        response.extensions_mut().insert(kind);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        match kind {
            ProblemKind::Unauthorized => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            ProblemKind::AgentBusy
            | ProblemKind::ProcessBusy
            | ProblemKind::TooManyProcesses
            | ProblemKind::TooManyConnections
            | ProblemKind::TooManySessions
            | ProblemKind::QueueFull
            | ProblemKind::StoreLocked
            | ProblemKind::ShuttingDown
            | ProblemKind::TooManyRequests => {
                let after = self.retry_after.unwrap_or(RETRY_AFTER);
                // The header has whole seconds; round up, so that the client does not retry too early.
                let seconds = after.as_secs() + u64::from(after.subsec_nanos() > 0);
                headers.insert(header::RETRY_AFTER, seconds.into());
            }
            ProblemKind::UpgradeRequired => {
                headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
                headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
                headers.insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
            }
            // The rest of the request body is not read, so the connection cannot be used for another request.
            ProblemKind::PayloadTooLarge | ProblemKind::RequestTimeout => {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response
    }
}
