//! Errors at the edge: every failure leaves as a problem document.

mod sessions;

use agents::install;
use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use protocol::{Attempt, Kind, Problem};
use tracing::error;

/// The answer of a request that failed.
#[derive(Debug)]
pub(crate) struct ApiError(Box<Problem>);

pub(crate) type Result<T> = std::result::Result<T, ApiError>;

impl ApiError {
    pub(crate) fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self(Box::new(Problem::new(kind, detail)))
    }

    /// What is told.
    pub(crate) fn problem(&self) -> &Problem {
        &self.0
    }

    /// Something that should not happen: the log keeps the cause, the caller is told no more than that.
    pub(crate) fn internal(error: &dyn std::error::Error) -> Self {
        error!(error = %Chain(error), "a request failed");
        Self::new(Kind::Internal, "the daemon's log says more")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
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

impl From<acp::Error> for ApiError {
    fn from(error: acp::Error) -> Self {
        use acp::Error as E;
        let kind = match &error {
            E::NotFound(_) => Kind::InstanceNotFound,
            E::AgentRequired(_) => Kind::AgentRequired,
            E::UnknownAgent(_) => Kind::UnknownAgent,
            E::AgentMismatch { .. } => Kind::AgentMismatch,
            E::Running(_) => Kind::InstanceRunning,
            E::InvalidLaunch(_) => Kind::InvalidRequest,
            E::Envelope(_) => Kind::InvalidEnvelope,
            E::IdInFlight { .. } => Kind::IdInFlight,
            E::KeyReused { .. } => Kind::KeyReused,
            E::Launch(error) => match **error {
                agents::Error::NotInstalled { .. } => Kind::AgentStart,
                agents::Error::NotAcp(_) => Kind::NotAcp,
            },
            E::Install(error) => return Self::from(&**error),
            E::Start { .. } => Kind::AgentStart,
            E::Exited { .. } | E::Deleted(_) => Kind::AgentExited,
            E::Busy { .. } => Kind::AgentBusy,
            E::Stream(_) => Kind::Internal,
            E::TooMany(_) => Kind::TooManyProcesses,
            E::Timeout { .. } | E::Installing { .. } => Kind::AgentTimeout,
        };
        let mut problem = Problem::new(kind, error.to_string());
        if let E::Exited { exit, .. } = &error {
            problem.stderr_tail = Some(exit.stderr_tail.clone());
        }
        Self(Box::new(problem))
    }
}

impl From<&install::Error> for ApiError {
    fn from(error: &install::Error) -> Self {
        let mut problem = Problem::new(install_kind(error), Chain(error).to_string());
        let cause = |tried: &install::Attempt| Attempt {
            source: tried.from.clone(),
            reason: tried.fault.to_string(),
        };
        problem.causes = error.attempts().iter().map(cause).collect();
        Self(Box::new(problem))
    }
}

fn install_kind(error: &install::Error) -> Kind {
    use install::{Error as E, Fault};
    match error {
        E::Forbidden(_) => Kind::Forbidden,
        E::Unsupported { .. } | E::Platform(_) => Kind::UnsupportedPlatform,
        E::NoSpace(_) => Kind::NoSpace,
        E::Ended(_) => Kind::ShuttingDown,
        E::Store { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => Kind::NoSpace,
        E::Store { .. } => Kind::InstallFailed,
        // Whoever is told of a wrong checksum should hear it, whatever else failed.
        E::Failed { attempts, .. }
            if attempts.iter().any(|tried| matches!(*tried.fault, Fault::Checksum { .. })) =>
        {
            Kind::ChecksumMismatch
        }
        E::Failed { .. } => Kind::InstallFailed,
    }
}

impl From<shell::Error> for ApiError {
    fn from(error: shell::Error) -> Self {
        use shell::Error as E;
        let kind = match &error {
            E::NotFound(_) => Kind::ProcessNotFound,
            E::Invalid(_) => Kind::InvalidRequest,
            E::Start(_) => Kind::ProcessStart,
            E::TooMany(_) => Kind::TooManyProcesses,
            E::ShuttingDown => Kind::ShuttingDown,
            E::Ended(_) => Kind::ProcessEnded,
            E::InputClosed(_) => Kind::InputClosed,
            E::Busy(_) => Kind::ProcessBusy,
            E::NoTerminal(_) => Kind::NotATerminal,
            E::Refused(_) => Kind::Forbidden,
        };
        Self::new(kind, Chain(&error).to_string())
    }
}

/// An error with everything that caused it, on one line.
pub(crate) struct Chain<'a>(pub(crate) &'a dyn std::error::Error);

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
