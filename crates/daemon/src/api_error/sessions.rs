//! Maps session errors to problem documents.

use journal::durable::ErrorCause;
use protocol::ProblemKind;
use server::ErrorChain;
use tracing::error;
use worker_runtime::Error;

use super::ApiError;

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::NotFound(_) => ProblemKind::SessionNotFound,
            Error::Conflict(_) => ProblemKind::SessionConflict,
            Error::UnknownAgent(_) => ProblemKind::UnknownAgent,
            Error::Directory { .. } | Error::Variable(_) => ProblemKind::InvalidRequest,
            Error::TooMany(_) => ProblemKind::TooManySessions,
            Error::Busy { .. } => ProblemKind::SessionBusy,
            Error::QueueFull(_) => ProblemKind::QueueFull,
            Error::Unsupported { .. } | Error::NotOffered { .. } => ProblemKind::UnsupportedFeature,
            Error::KeyReused(_) => ProblemKind::KeyReused,
            Error::InputNotFound(_) => ProblemKind::InputNotFound,
            Error::InputGone(_) => ProblemKind::InputGone,
            Error::WaitNotFound(_) => ProblemKind::WaitNotFound,
            Error::Settled { .. } => ProblemKind::WaitSettled,
            Error::InvalidAnswer(_) => ProblemKind::InvalidAnswer,
            Error::Agent(_) => ProblemKind::AgentStart,
            Error::Storage(cause) => storage_kind(cause.cause()),
            Error::Unreadable { .. } | Error::Damaged(_) => ProblemKind::StoreCorrupt,
            Error::Secrets { .. } | Error::Thread(_) => ProblemKind::Internal,
            Error::Ending(_) => ProblemKind::ShuttingDown,
        };
        if matches!(kind, ProblemKind::Internal | ProblemKind::StoreCorrupt | ProblemKind::NoSpace) {
            error!(error = %ErrorChain(&error), "a session operation failed");
        }
        Self::new(kind, ErrorChain(&error).to_string())
    }
}

fn storage_kind(cause: ErrorCause) -> ProblemKind {
    match cause {
        ErrorCause::Full => ProblemKind::NoSpace,
        ErrorCause::Locked => ProblemKind::StoreLocked,
        ErrorCause::Corrupt => ProblemKind::StoreCorrupt,
        ErrorCause::Other => ProblemKind::Internal,
    }
}
