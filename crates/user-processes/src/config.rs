//! How processes are run, and within which limits.

use std::{ffi::OsString, num::NonZeroU64, path::PathBuf, time::Duration};

use journal::Retention;

/// How many processes run at a time. With what has ended, all logs together stay below 400 MiB.
pub const PROCESSES_MAX: usize = 128;

/// How many processes that have ended are kept until they are deleted; beyond it the one that ended first is forgotten.
pub const EXITED_MAX: usize = 64;

/// How much of each log is kept, in pieces; a piece is what was read at once.
pub const LOG_EVENTS_MAX: u64 = 4096;

/// How much of each log is kept, in bytes: some ten thousand lines.
pub const LOG_BYTES_MAX: u64 = 2 << 20;

/// How processes are run.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where they run when nothing else is said.
    pub current_dir: PathBuf,
    /// Variables of ours that they do not inherit.
    pub env_remove: Vec<OsString>,
    /// How long one may take to end by itself before it is killed.
    pub grace: Duration,
    /// How many there may be, and how much is kept of each.
    pub limits: Limits,
}

/// How many processes there may be, and how much is kept of each.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How many run at a time.
    pub processes: usize,
    /// How many are kept after their end.
    pub exited: usize,
    /// What is kept of each log.
    pub log: Retention,
}

impl Default for Limits {
    fn default() -> Self {
        let limit = |number| NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN);
        let log = Retention { events: limit(LOG_EVENTS_MAX), bytes: limit(LOG_BYTES_MAX) };
        Self { processes: PROCESSES_MAX, exited: EXITED_MAX, log }
    }
}
