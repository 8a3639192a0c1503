//! Maps file errors to problem documents.

use files::FileErrorCause;
use protocol::ProblemKind;

use super::ApiError;

impl From<files::Error> for ApiError {
    fn from(error: files::Error) -> Self {
        let kind = match error.cause() {
            FileErrorCause::NotFound => ProblemKind::PathNotFound,
            FileErrorCause::NotADirectory
            | FileErrorCause::IsADirectory
            | FileErrorCause::NotAFile
            | FileErrorCause::AlreadyExists
            | FileErrorCause::NotEmpty
            | FileErrorCause::IntoItself => ProblemKind::PathConflict,
            FileErrorCause::PermissionDenied | FileErrorCause::Outside | FileErrorCause::ReadOnly => {
                ProblemKind::Forbidden
            }
            FileErrorCause::InvalidPath { .. } | FileErrorCause::TooManyLinks | FileErrorCause::TooDeep => {
                ProblemKind::InvalidPath
            }
            FileErrorCause::NoSpace => ProblemKind::NoSpace,
            // The daemon never cancels its own file operations.
            FileErrorCause::Unsupported | FileErrorCause::Stopped => ProblemKind::Internal,
            // Special files, such as those in /proc, fail with errors of their own. The path is at fault, not the daemon.
            FileErrorCause::Io(_) => ProblemKind::PathConflict,
        };
        let detail = match error.cause() {
            FileErrorCause::Io(cause) => format!("{error}: {cause}"),
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
