//! Configuration and limits.

use std::{ffi::OsString, num::NonZeroU64, path::PathBuf, time::Duration};

use journal::Retention;

/// The maximum number of running processes. Together with the exited ones, all logs stay below 400 MiB.
pub const PROCESSES_MAX: usize = 128;

/// The number of exited processes that are retained; beyond it, the one that exited first is removed.
pub const EXITED_MAX: usize = 64;

/// The maximum number of pieces in a log; a piece is the output of one read.
pub const LOG_EVENTS_MAX: u64 = 4096;

/// The maximum size of a log: about ten thousand lines.
pub const LOG_BYTES_MAX: u64 = 2 << 20;

/// How processes are run.
#[derive(Debug, Clone)]
pub struct Config {
    /// The default working directory.
    pub current_dir: PathBuf,
    /// Variables that processes do not inherit.
    pub env_remove: Vec<OsString>,
    /// How long a process may take to stop by itself before it is killed.
    pub grace: Duration,
    /// Limits on number and memory.
    pub limits: UserProcessLimits,
}

/// Limits on the number of processes and on their logs.
#[derive(Debug, Clone, Copy)]
pub struct UserProcessLimits {
    /// The maximum number of running processes.
    pub processes: usize,
    /// The number of exited processes that are retained.
    pub exited: usize,
    /// The retention of each log.
    pub log: Retention,
}

impl Default for UserProcessLimits {
    fn default() -> Self {
        let limit = |number| NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN);
        let log = Retention { events: limit(LOG_EVENTS_MAX), bytes: limit(LOG_BYTES_MAX) };
        Self { processes: PROCESSES_MAX, exited: EXITED_MAX, log }
    }
}
