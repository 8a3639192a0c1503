//! How commands are lent, and within which limits.

use std::{collections::BTreeMap, fmt, time::Duration};

use protocol::relay::ShellGrant;

use super::Sandbox;

/// How many commands run at a time: each has two pipes or a terminal, and a sandbox three processes.
pub const RUNNING_MAX: usize = 64;

/// How many commands that have ended are remembered; beyond it the one that ended first is forgotten.
pub const ENDED_MAX: usize = 32;

/// How much of the output of a command in the background is kept until somebody asks for it. Those that are remembered
/// together hold no more than some 30 MiB, if nobody ever asks.
pub const RING_BYTES_MAX: usize = 1 << 20;

/// The part of the machine's memory that files of all commands together may take, in the `/tmp` and `/dev/shm` of their
/// sandboxes: a half stays for their owner.
const SCRATCH_PART: u64 = 2;

/// How long a command that has ended is remembered: time enough to connect again and ask.
pub const RETENTION: Duration = Duration::from_secs(600);

/// How long a command may take of which nothing else is said: nobody waits longer for one.
pub const RUNTIME_MAX: Duration = Duration::from_secs(24 * 3600);

/// How long a command that is to end has before it is killed. It gets SIGTERM after a quarter of that.
// Revoked access ends within a second, and that includes commands. Finding and killing the processes of a command, and telling
// the hub, takes some ten milliseconds, on a busy machine a few hundred.
const GRACE: Duration = Duration::from_millis(600);

/// How commands are lent.
#[derive(Clone)]
pub struct Config {
    /// What commands may do at most, whatever is granted: what is granted only takes away.
    pub lends: ShellGrant,
    /// Variables of the device's own environment; a command has those that both sides name.
    pub environment: BTreeMap<String, String>,
    /// What they run in; none if their owner wants no sandbox.
    pub sandbox: Option<Sandbox>,
    /// What becomes of them when the connection is lost.
    pub on_disconnect: OnDisconnect,
    /// How much of everything there may be.
    pub limits: Limits,
}

/// Shows the names of the variables and not their values, which hold keys and tokens.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("lends", &self.lends)
            .field("environment", &self.environment.keys())
            .field("sandbox", &self.sandbox)
            .field("on_disconnect", &self.on_disconnect)
            .field("limits", &self.limits)
            .finish()
    }
}

/// What becomes of commands when the connection is lost over which they were started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnDisconnect {
    /// They are ended.
    #[default]
    Kill,
    /// They go on in the background, and can be asked about over the next connection.
    Keep,
}

/// How much of everything there may be.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How many commands run at a time.
    pub running_max: usize,
    /// How many are remembered after their end.
    pub ended_max: usize,
    /// For how long.
    pub retention: Duration,
    /// How much of the output of one in the background is kept.
    pub ring_bytes_max: usize,
    /// How long one that is to end has before it is killed.
    pub grace: Duration,
    /// How much memory all of them together may keep files in.
    pub scratch_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            running_max: RUNNING_MAX,
            ended_max: ENDED_MAX,
            retention: RETENTION,
            ring_bytes_max: RING_BYTES_MAX,
            grace: GRACE,
            scratch_bytes_max: memory() / SCRATCH_PART,
        }
    }
}

/// How much memory the machine has.
fn memory() -> u64 {
    let system = rustix::system::sysinfo();
    system.totalram.saturating_mul(system.mem_unit.into())
}
