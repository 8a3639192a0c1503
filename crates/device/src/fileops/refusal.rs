//! What whoever asks is told when something does not work.

use std::io;

use files::FileErrorCause;
use protocol::relay::{Code, RelayError, RelayPath, RootId};
use tracing::warn;

use super::Spot;

/// What is told of an error. It names the path as it was asked for, never that of the host.
pub(super) fn of(error: &files::Error, root_id: &RootId, path: &RelayPath) -> RelayError {
    let doing = error.operation;
    let (code, reason) = match &error.cause {
        FileErrorCause::NotFound => (Code::NotFound, "not_found"),
        // There is nothing below a file; but a file is no directory that could be listed or filled.
        FileErrorCause::NotADirectory if !matches!(doing, "list" | "write" | "make the directory") => {
            (Code::NotFound, "not_found")
        }
        FileErrorCause::NotADirectory => (Code::InvalidRequest, "not_a_directory"),
        FileErrorCause::IsADirectory => (Code::InvalidRequest, "is_a_directory"),
        FileErrorCause::AlreadyExists => (Code::InvalidRequest, "exists"),
        FileErrorCause::NotEmpty => (Code::InvalidRequest, "not_empty"),
        FileErrorCause::IntoItself => (Code::InvalidRequest, "into_itself"),
        FileErrorCause::InvalidPath { .. } => (Code::InvalidRequest, "invalid_path"),
        FileErrorCause::NotAFile => (Code::PermissionDenied, "special_file"),
        FileErrorCause::PermissionDenied => (Code::PermissionDenied, "permission"),
        FileErrorCause::Outside => (Code::PermissionDenied, "outside"),
        // A circle of links, or one that stands for a handle: neither is a way.
        FileErrorCause::TooManyLinks => (Code::PermissionDenied, "links"),
        FileErrorCause::ReadOnly => (Code::PermissionDenied, "read_only"),
        FileErrorCause::NoSpace => (Code::ProviderError, "no_space"),
        FileErrorCause::TooDeep => (Code::ProviderError, "too_deep"),
        FileErrorCause::Unsupported => (Code::ProviderError, "unsupported"),
        FileErrorCause::Stopped => return cancelled(),
        FileErrorCause::Io(error) => {
            // What the system says may name things of the host, so it stays here.
            warn!(%error, %root_id, %path, doing, "a file operation failed");
            (Code::ProviderError, "io")
        }
    };
    let message = format!("could not {doing} `{path}`: {}", error.cause);
    RelayError::new(code, message).with("root_id", root_id.as_str()).with("reason", reason)
}

/// What is told of an error of the system, which may name things of the host, so it stays here.
pub(super) fn failed(spot: &Spot, doing: &'static str, error: &io::Error) -> RelayError {
    let Spot { root_id, path, .. } = spot;
    warn!(%error, %root_id, %path, doing, "a file operation failed");
    RelayError::new(Code::ProviderError, format!("could not {doing} `{path}`: the system refused"))
        .with("root_id", root_id.as_str())
        .with("reason", "io")
}

/// The path leaves its root by its spelling alone.
pub(super) fn outside(root_id: &RootId, path: &RelayPath) -> RelayError {
    RelayError::new(Code::PermissionDenied, format!("`{path}` leads outside its root"))
        .with("root_id", root_id.as_str())
        .with("reason", "outside")
}

/// The request makes no sense, for a reason that programs can tell.
pub(super) fn invalid(reason: &str, message: impl Into<String>) -> RelayError {
    RelayError::new(Code::InvalidRequest, message).with("reason", reason)
}

/// Nobody wants it any more.
pub(super) fn cancelled() -> RelayError {
    RelayError::new(Code::Cancelled, "the request was cancelled")
}
