//! What whoever asks is told when something does not work.

use std::io;

use files::{FileErrorCause, FileOperation};
use protocol::relay::{RelayError, RelayErrorCode, RelayPath, RootId};
use tracing::warn;

use super::Spot;

/// What is told of an error. It names the path as it was asked for, never that of the host.
pub(super) fn of(error: &files::Error, root_id: &RootId, path: &RelayPath) -> RelayError {
    let doing = error.operation;
    let (code, reason) = match &error.cause {
        FileErrorCause::NotFound => (RelayErrorCode::NotFound, "not_found"),
        // There is nothing below a file; but a file is no directory that could be listed or filled.
        FileErrorCause::NotADirectory if !needs_directory(doing) => (RelayErrorCode::NotFound, "not_found"),
        FileErrorCause::NotADirectory => (RelayErrorCode::InvalidRequest, "not_a_directory"),
        FileErrorCause::IsADirectory => (RelayErrorCode::InvalidRequest, "is_a_directory"),
        FileErrorCause::AlreadyExists => (RelayErrorCode::InvalidRequest, "exists"),
        FileErrorCause::NotEmpty => (RelayErrorCode::InvalidRequest, "not_empty"),
        FileErrorCause::IntoItself => (RelayErrorCode::InvalidRequest, "into_itself"),
        FileErrorCause::InvalidPath { .. } => (RelayErrorCode::InvalidRequest, "invalid_path"),
        FileErrorCause::NotAFile => (RelayErrorCode::PermissionDenied, "special_file"),
        FileErrorCause::PermissionDenied => (RelayErrorCode::PermissionDenied, "permission"),
        FileErrorCause::Outside => (RelayErrorCode::PermissionDenied, "outside"),
        // A circle of links, or one that stands for a handle: neither is a way.
        FileErrorCause::TooManyLinks => (RelayErrorCode::PermissionDenied, "links"),
        FileErrorCause::ReadOnly => (RelayErrorCode::PermissionDenied, "read_only"),
        FileErrorCause::NoSpace => (RelayErrorCode::ProviderError, "no_space"),
        FileErrorCause::TooDeep => (RelayErrorCode::ProviderError, "too_deep"),
        FileErrorCause::Unsupported => (RelayErrorCode::ProviderError, "unsupported"),
        FileErrorCause::Stopped => return cancelled(),
        FileErrorCause::Io(error) => {
            // What the system says may name things of the host, so it stays here.
            warn!(%error, %root_id, %path, %doing, "a file operation failed");
            (RelayErrorCode::ProviderError, "io")
        }
    };
    let message = format!("could not {doing} `{path}`: {}", error.cause);
    RelayError::new(code, message).with("root_id", root_id.as_str()).with("reason", reason)
}

/// Whether the operation itself needs a directory at its path, or at the parent of its path.
fn needs_directory(operation: FileOperation) -> bool {
    match operation {
        FileOperation::List | FileOperation::Write | FileOperation::MakeDirectory => true,
        FileOperation::Read
        | FileOperation::Inspect
        | FileOperation::Remove
        | FileOperation::Move
        | FileOperation::MoveTo
        | FileOperation::Unpack
        | FileOperation::UnpackInto
        | FileOperation::Watch
        | FileOperation::OpenTree
        | FileOperation::UsePath => false,
    }
}

/// What is told of an error of the system, which may name things of the host, so it stays here.
pub(super) fn failed(spot: &Spot, doing: &'static str, error: &io::Error) -> RelayError {
    let Spot { root_id, path, .. } = spot;
    warn!(%error, %root_id, %path, doing, "a file operation failed");
    RelayError::new(RelayErrorCode::ProviderError, format!("could not {doing} `{path}`: the system refused"))
        .with("root_id", root_id.as_str())
        .with("reason", "io")
}

/// The path leaves its root by its spelling alone.
pub(super) fn outside(root_id: &RootId, path: &RelayPath) -> RelayError {
    RelayError::new(RelayErrorCode::PermissionDenied, format!("`{path}` leads outside its root"))
        .with("root_id", root_id.as_str())
        .with("reason", "outside")
}

/// The request makes no sense, for a reason that programs can tell.
pub(super) fn invalid(reason: &str, message: impl Into<String>) -> RelayError {
    RelayError::new(RelayErrorCode::InvalidRequest, message).with("reason", reason)
}

/// Nobody wants it any more.
pub(super) fn cancelled() -> RelayError {
    RelayError::new(RelayErrorCode::Cancelled, "the request was cancelled")
}
