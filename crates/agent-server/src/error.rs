//! Why a server cannot be used.

use std::time::Duration;

use process::ChildExit;

/// Why a server cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its process could not be started.
    #[error(transparent)]
    Spawn(#[from] process::Error),
    /// It exited during startup.
    #[error("the agent's server exited during startup ({exit}): {stderr}")]
    Exited {
        /// How it exited.
        exit: ChildExit,
        /// The end of its standard error.
        stderr: String,
    },
    /// It did not print its address in time.
    #[error("the agent's server did not print its address within {} s: {stderr}", waited.as_secs())]
    Silent {
        /// The time limit.
        waited: Duration,
        /// The end of its standard error.
        stderr: String,
    },
    /// Its event stream cannot be opened.
    #[error("could not open the event stream of the agent's server")]
    Stream(#[source] reqwest::Error),
    /// All servers are being stopped.
    #[error("agent servers cannot be started: the daemon is shutting down")]
    Stopped,
}
