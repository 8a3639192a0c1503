//! Why a server cannot be used.

use std::time::Duration;

use process::Exit;

/// Why a server cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its process could not be started.
    #[error(transparent)]
    Spawn(#[from] process::Error),
    /// It ended before it could be used.
    #[error("the server ended before it could be used ({exit}): {stderr}")]
    Exited {
        /// How.
        exit: Exit,
        /// The last it wrote to standard error.
        stderr: String,
    },
    /// It did not say in time where it listens.
    #[error("the server did not say within {} s where it listens: {stderr}", waited.as_secs())]
    Silent {
        /// How long that is.
        waited: Duration,
        /// The last it wrote to standard error.
        stderr: String,
    },
    /// Its stream of events cannot be read.
    #[error("the server does not stream its events")]
    Stream(#[source] reqwest::Error),
    /// Servers are being stopped.
    #[error("no server is started any more")]
    Stopped,
}
