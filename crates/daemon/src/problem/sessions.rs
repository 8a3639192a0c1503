//! What can go wrong with a session, as the API tells it.

use journal::durable::Cause;
use protocol::Kind;
use server::Chain;
use tracing::error;
use worker_runtime::Error;

use super::ApiError;

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::NotFound(_) => Kind::SessionNotFound,
            Error::Conflict(_) => Kind::SessionConflict,
            Error::UnknownAgent(_) => Kind::UnknownAgent,
            Error::Directory(_) | Error::Variable(_) => Kind::InvalidRequest,
            Error::TooMany(_) => Kind::TooManySessions,
            Error::Busy { .. } => Kind::SessionBusy,
            Error::QueueFull(_) => Kind::QueueFull,
            Error::Unsupported { .. } => Kind::UnsupportedFeature,
            Error::KeyReused(_) => Kind::KeyReused,
            Error::InputNotFound(_) => Kind::InputNotFound,
            Error::InputGone(_) => Kind::InputGone,
            Error::WaitNotFound(_) => Kind::WaitNotFound,
            Error::Settled { .. } => Kind::WaitSettled,
            Error::InvalidAnswer(_) => Kind::InvalidAnswer,
            Error::Agent(_) => Kind::AgentStart,
            Error::Storage(cause) => stored(cause.cause()),
            Error::Damaged(_) => Kind::StoreCorrupt,
            Error::Thread(_) => Kind::Internal,
            Error::Ending(_) => Kind::ShuttingDown,
        };
        if matches!(kind, Kind::Internal | Kind::StoreCorrupt | Kind::NoSpace) {
            error!(error = %Chain(&error), "the sessions cannot be used");
        }
        Self::new(kind, Chain(&error).to_string())
    }
}

fn stored(cause: Cause) -> Kind {
    match cause {
        Cause::Full => Kind::NoSpace,
        Cause::Locked => Kind::StoreLocked,
        Cause::Corrupt => Kind::StoreCorrupt,
        Cause::Other => Kind::Internal,
    }
}
