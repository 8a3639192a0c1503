//! Errors at the edge: every failure leaves as a problem document.

mod sessions;

use agents::install;
use axum::response::{IntoResponse, Response};
use protocol::{Attempt, Kind, Problem};
use server::{Chain, Refusal};

/// The answer of a request that failed: a refusal that the errors of the crates below can become.
#[derive(Debug)]
pub(crate) struct ApiError(Refusal);

pub(crate) type Result<T> = std::result::Result<T, ApiError>;

impl ApiError {
    pub(crate) fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self(Refusal::new(kind, detail))
    }

    /// What is told.
    pub(crate) fn problem(&self) -> &Problem {
        self.0.problem()
    }

    /// Something that should not happen: the log keeps the cause, the caller is told no more than that.
    pub(crate) fn internal(error: &dyn std::error::Error) -> Self {
        Self(Refusal::internal(error))
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        self.0.into_response()
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
        Self(problem.into())
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
        Self(problem.into())
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

impl From<user_processes::Error> for ApiError {
    fn from(error: user_processes::Error) -> Self {
        use user_processes::Error as E;
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
