//! Configuration: read once, in `main`, and handed down by field.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use journal::Retention;
use server::CorsConfig;

use crate::{Pace, Rate};

/// How a hub runs.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where it listens.
    pub address: SocketAddr,
    /// Names in `Host` that are allowed besides those of the loopback.
    pub hosts: Vec<String>,
    /// Which web pages may use it.
    pub cors: CorsConfig,
    /// Where it keeps its own files.
    pub data_dir: PathBuf,
    /// A file that names runtimes, besides those that it is told of.
    pub runtimes: Option<PathBuf>,
    /// How much of what happened in each worker is kept for those who come back.
    pub backlog: Retention,
    /// A file that says what is hidden from whom; nothing is if there is none.
    pub policy: Option<PathBuf>,
    /// How long others are waited for.
    pub pace: Pace,
    /// How often a token that is no good, or a name that is not ours, may come from one address.
    pub failures: Rate,
    /// How often one token may ask.
    pub requests: Rate,
    /// Where runtimes find the hub, such as `https://hub.example`; where it listens if none.
    pub public_url: Option<String>,
    /// How long somebody may take to approve what is asked of a device; then it is not done.
    pub approval_max: Duration,
    /// The largest message of a device, and of a runtime that uses one, in each direction.
    pub frame_bytes_max: usize,
    /// How long a connection may be silent or refuse to read before it is closed.
    pub stall: Duration,
}
