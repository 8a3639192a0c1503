//! Why a server cannot be used.

use std::time::Duration;

use process::ChildExit;

/// Why a server cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its process could not be started.
    #[error(transparent)]
    Spawn(#[from] process::Error),
    /// It ended before it could be used.
    #[error("the agent's server exited during startup ({exit}): {stderr}")]
    Exited {
        /// How.
        exit: ChildExit,
        /// The last it wrote to standard error.
        stderr: String,
    },
    /// It did not say in time where it listens.
    #[error("the agent's server did not print its address within {} s: {stderr}", waited.as_secs())]
    Silent {
        /// How long that is.
        waited: Duration,
        /// The last it wrote to standard error.
        stderr: String,
    },
    /// Its stream of events cannot be read.
    #[error("could not open the event stream of the agent's server")]
    Stream(#[source] reqwest::Error),
    /// Servers are being stopped.
    #[error("agent servers cannot be started: the daemon is shutting down")]
    Stopped,
}
