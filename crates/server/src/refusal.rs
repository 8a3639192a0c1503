//! Errors at the edge: every failure leaves as a problem document.

use std::{error, fmt};

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use protocol::{Kind, Problem};
use tracing::error;

use crate::RequestId;

/// The answer of a request that failed.
#[derive(Debug)]
pub struct Refusal(Box<Problem>);

/// What a request comes to.
pub type Result<T> = std::result::Result<T, Refusal>;

impl Refusal {
    /// A problem of this kind; `detail` is for people.
    pub fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Problem::new(kind, detail).into()
    }

    /// Something that should not happen: the log keeps the cause, the caller is told no more than that.
    pub fn internal(error: &dyn error::Error) -> Self {
        let request = RequestId::current();
        error!(request = request.as_ref().map(RequestId::as_str), error = %Chain(error), "a request failed");
        Self::new(Kind::Internal, "the server's log says more")
    }

    /// What is told.
    pub fn problem(&self) -> &Problem {
        &self.0
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self(Box::new(problem))
    }
}

impl IntoResponse for Refusal {
    fn into_response(mut self) -> Response {
        self.0.request_id = RequestId::current().map(|id| id.as_str().to_owned());
        let status = StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let kind = self.0.kind;
        let mut response = (status, Json(self.0)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        match kind {
            Kind::Unauthorized => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Kind::AgentBusy
            | Kind::ProcessBusy
            | Kind::TooManyProcesses
            | Kind::TooManyConnections
            | Kind::TooManySessions
            | Kind::QueueFull
            | Kind::StoreLocked
            | Kind::ShuttingDown => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            Kind::UpgradeRequired => {
                headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
                headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
                headers.insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
            }
            // The rest of the request is not read, so the connection cannot be used again.
            Kind::PayloadTooLarge | Kind::RequestTimeout => {
                headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            _ => {}
        }
        response
    }
}

/// An error with everything that caused it, on one line.
pub struct Chain<'a>(pub &'a dyn error::Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
