//! Why something in an environment came to nothing.

use protocol::relay::{RelayError, RelayErrorCode, ToolName};

/// Why something in an environment came to nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The path is in no directory that is lent, leads out of it, or may not be used like this.
    #[error("`{path}` cannot be used: {reason}")]
    PathNotAllowed {
        /// As it was said.
        path: String,
        /// Why.
        reason: String,
    },
    /// Something else went wrong with a file.
    #[error("`{path}`: {error}")]
    File {
        /// As it was said.
        path: String,
        /// What.
        #[source]
        error: RelayError,
    },
    /// A command took too long, and was ended.
    #[error("the command exceeded its timeout and was stopped")]
    ShellTimeout,
    /// Nobody can tell whether a command that was to end has ended.
    #[error("it could not be determined whether the command has ended")]
    Unconfirmed,
    /// The arguments of a tool are not as it wants them; it was not called.
    #[error("`{tool}`: {error}")]
    Arguments {
        /// The tool.
        tool: ToolName,
        /// What is wrong, and where.
        #[source]
        error: RelayError,
    },
    /// The device is not there any more.
    #[error("the device is not connected: {0}")]
    Disconnected(String),
    /// Anything else.
    #[error(transparent)]
    Relay(RelayError),
}

impl Error {
    /// What kind of failure it is.
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

    /// Of a file.
    pub(super) fn file(path: &str, error: RelayError) -> Self {
        let path = path.to_owned();
        match error.code {
            RelayErrorCode::RelayDisconnected => Self::Disconnected(error.message),
            RelayErrorCode::PermissionDenied => Self::PathNotAllowed { path, reason: error.message },
            _ => Self::File { path, error },
        }
    }

    /// Of something that was said to a command, or asked about it.
    pub(super) fn command(error: RelayError) -> Self {
        if error.is_lost() { Self::Unconfirmed } else { error.into() }
    }

    /// Of what a command came to.
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
