//! Maps the errors of the service crates to problem documents.

mod files;
mod sessions;

use agent_install as install;
use axum::response::{IntoResponse, Response};
use protocol::{FailedAttempt, Problem, ProblemKind};
use server::{ErrorChain, ProblemResponse};

/// The response to a request that failed. The errors of the service crates convert into it.
#[derive(Debug)]
pub(crate) struct ApiError(ProblemResponse);

pub(crate) type Result<T> = std::result::Result<T, ApiError>;

impl ApiError {
    pub(crate) fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self(ProblemResponse::new(kind, detail))
    }

    /// The problem document.
    pub(crate) fn problem(&self) -> &Problem {
        self.0.problem()
    }

    /// An unexpected error: logs the cause, and hides it from the client.
    pub(crate) fn internal(error: &dyn std::error::Error) -> Self {
        Self(ProblemResponse::internal(error))
    }
}

impl From<ProblemResponse> for ApiError {
    fn from(response: ProblemResponse) -> Self {
        Self(response)
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
            E::NotFound(_) => ProblemKind::InstanceNotFound,
            E::AgentRequired(_) => ProblemKind::AgentRequired,
            E::UnknownAgent(_) => ProblemKind::UnknownAgent,
            E::AgentMismatch { .. } => ProblemKind::AgentMismatch,
            E::Running(_) => ProblemKind::InstanceRunning,
            E::InvalidLaunch(_) => ProblemKind::InvalidRequest,
            E::Envelope(_) => ProblemKind::InvalidEnvelope,
            E::IdInFlight { .. } => ProblemKind::IdInFlight,
            E::KeyReused { .. } => ProblemKind::KeyReused,
            E::Launch(error) => match **error {
                agent_catalog::Error::NotInstalled { .. } => ProblemKind::AgentStart,
                agent_catalog::Error::NotAcp(_) => ProblemKind::NotAcp,
            },
            E::Install(error) => return Self::from(&**error),
            E::Start { .. } => ProblemKind::AgentStart,
            E::Exited { .. } | E::InputClosed { .. } | E::Deleted(_) => ProblemKind::AgentExited,
            E::Busy { .. } => ProblemKind::AgentBusy,
            E::Stream(_) => ProblemKind::Internal,
            E::TooMany(_) => ProblemKind::TooManyProcesses,
            E::Timeout { .. } | E::Installing { .. } => ProblemKind::AgentTimeout,
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
        let mut problem = Problem::new(install_kind(error), ErrorChain(error).to_string());
        let cause = |attempt: &install::Attempt| FailedAttempt {
            source: attempt.from.clone(),
            reason: attempt.fault.to_string(),
        };
        problem.causes = error.attempts().iter().map(cause).collect();
        Self(problem.into())
    }
}

fn install_kind(error: &install::Error) -> ProblemKind {
    use install::{Error as E, Fault};
    match error {
        E::Forbidden(_) => ProblemKind::Forbidden,
        E::Unsupported { .. } | E::Platform(_) => ProblemKind::UnsupportedPlatform,
        E::NoSpace(_) => ProblemKind::NoSpace,
        E::Ended(_) => ProblemKind::ShuttingDown,
        E::Store { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => ProblemKind::NoSpace,
        E::Store { .. } => ProblemKind::InstallFailed,
        // A wrong checksum may be an attack, so it takes precedence over the failures of other sources.
        E::Failed { attempts, .. }
            if attempts.iter().any(|attempt| matches!(*attempt.fault, Fault::Checksum { .. })) =>
        {
            ProblemKind::ChecksumMismatch
        }
        E::Unverified { .. } => ProblemKind::InstallUnverified,
        // Something that the agent needs may have been refused.
        E::Failed { .. } if error.is_unverified() => ProblemKind::InstallUnverified,
        E::Failed { .. } => ProblemKind::InstallFailed,
    }
}

impl From<user_processes::Error> for ApiError {
    fn from(error: user_processes::Error) -> Self {
        use user_processes::Error as E;
        let kind = match &error {
            E::NotFound(_) => ProblemKind::ProcessNotFound,
            E::Invalid(_) => ProblemKind::InvalidRequest,
            E::Start(_) => ProblemKind::ProcessStart,
            E::TooMany(_) => ProblemKind::TooManyProcesses,
            E::ShuttingDown => ProblemKind::ShuttingDown,
            E::Ended(_) => ProblemKind::ProcessEnded,
            E::InputClosed(_) => ProblemKind::InputClosed,
            E::Busy(_) => ProblemKind::ProcessBusy,
            E::NoTerminal(_) => ProblemKind::NotATerminal,
            E::Refused(_) => ProblemKind::Forbidden,
        };
        Self::new(kind, ErrorChain(&error).to_string())
    }
}
