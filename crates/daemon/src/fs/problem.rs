//! What went wrong with a file, as a problem.

use files::Cause;
use protocol::ProblemKind;

use crate::problem::ApiError;

impl From<files::Error> for ApiError {
    fn from(error: files::Error) -> Self {
        let kind = match error.cause() {
            Cause::NotFound => ProblemKind::PathNotFound,
            Cause::NotADirectory
            | Cause::IsADirectory
            | Cause::NotAFile
            | Cause::AlreadyExists
            | Cause::NotEmpty
            | Cause::IntoItself => ProblemKind::PathConflict,
            Cause::PermissionDenied | Cause::Outside | Cause::ReadOnly => ProblemKind::Forbidden,
            Cause::InvalidPath { .. } | Cause::TooManyLinks | Cause::TooDeep => ProblemKind::InvalidPath,
            Cause::NoSpace => ProblemKind::NoSpace,
            // Nothing of the daemon's is stopped half-way.
            Cause::Unsupported | Cause::Stopped => ProblemKind::Internal,
            // Special files of the system refuse in their own ways: that is about the path, not about us.
            Cause::Io(_) => ProblemKind::PathConflict,
        };
        let detail = match error.cause() {
            Cause::Io(cause) => format!("{error}: {cause}"),
            _ => error.to_string(),
        };
        ApiError::new(kind, detail)
    }
}

impl From<files::unpack::Error> for ApiError {
    fn from(error: files::unpack::Error) -> Self {
        use files::unpack::Error as E;
        match error {
            E::Files(error) => error.into(),
            E::NotUndone { .. } => ApiError::internal(&error),
            other => ApiError::new(ProblemKind::InvalidArchive, other.to_string()),
        }
    }
}
