//! Errors of an environment.

use protocol::relay::{RelayError, RelayErrorCode, ToolName};

/// An error of an environment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The path is outside of the roots, or its root does not allow the operation.
    #[error("`{path}` cannot be used: {reason}")]
    PathNotAllowed {
        /// The path, as the caller passed it.
        path: String,
        /// The reason.
        reason: String,
    },
    /// Another error of a file operation.
    #[error("`{path}`: {error}")]
    File {
        /// The path, as the caller passed it.
        path: String,
        /// The error.
        #[source]
        error: RelayError,
    },
    /// A command took too long and was stopped.
    #[error("the command exceeded its timeout and was stopped")]
    ShellTimeout,
    /// A command was stopped, but its end could not be confirmed.
    #[error("it could not be determined whether the command has ended")]
    Unconfirmed,
    /// The arguments do not match the schema of the tool, which was not called.
    #[error("`{tool}`: {error}")]
    Arguments {
        /// The tool.
        tool: ToolName,
        /// The invalid value and the violated rule.
        #[source]
        error: RelayError,
    },
    /// The device is no longer connected.
    #[error("the device is not connected: {0}")]
    Disconnected(String),
    /// Any other error.
    #[error(transparent)]
    Relay(RelayError),
}

impl Error {
    /// The code of the error.
    pub fn code(&self) -> RelayErrorCode {
        match self {
            Self::PathNotAllowed { .. } => RelayErrorCode::PermissionDenied,
            Self::File { error, .. } | Self::Relay(error) => error.code,
            Self::ShellTimeout => RelayErrorCode::Timeout,
            Self::Unconfirmed => RelayErrorCode::Cancelled,
            Self::Arguments { .. } => RelayErrorCode::InvalidRequest,
            Self::Disconnected(_) => RelayErrorCode::RelayDisconnected,
        }
    }

    /// The error of a file operation.
    pub(super) fn file(path: &str, error: RelayError) -> Self {
        let path = path.to_owned();
        match error.code {
            RelayErrorCode::RelayDisconnected => Self::Disconnected(error.message),
            RelayErrorCode::PermissionDenied => Self::PathNotAllowed { path, reason: error.message },
            _ => Self::File { path, error },
        }
    }

    /// The error of a request about a command.
    pub(super) fn command(error: RelayError) -> Self {
        if error.is_lost() { Self::Unconfirmed } else { error.into() }
    }

    /// The error for the outcome of a command.
    pub(super) fn outcome(error: RelayError) -> Self {
        match error.code {
            RelayErrorCode::Timeout if !error.is_lost() => Self::ShellTimeout,
            _ => Self::command(error),
        }
    }
}

impl From<RelayError> for Error {
    fn from(error: RelayError) -> Self {
        match error.code {
            RelayErrorCode::RelayDisconnected => Self::Disconnected(error.message),
            _ => Self::Relay(error),
        }
    }
}
