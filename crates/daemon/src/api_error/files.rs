//! Maps file errors to problem documents.

use files::Cause;
use protocol::ProblemKind;

use super::ApiError;

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
            // The daemon never cancels its own file operations.
            Cause::Unsupported | Cause::Stopped => ProblemKind::Internal,
            // Special files, such as those in /proc, fail with errors of their own. The path is at fault, not the daemon.
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
