//! All processes at one moment, with their parents.

use std::collections::HashMap;

use rustix::process::Pid;

use crate::procfs::{self, ProcessStat};

/// A process id with the start time of the process, which tells it from later processes with the same id.
pub(crate) type StartTimes = HashMap<Pid, u64>;

/// All processes, as one pass over `/proc` found them.
pub(crate) struct ProcessSnapshot(HashMap<Pid, ProcessStat>);

impl ProcessSnapshot {
    /// Reads `/proc`, so call it on a thread that may block.
    pub(crate) fn read() -> Self {
        Self(procfs::pids().filter_map(|pid| Some((pid, ProcessStat::read(pid)?))).collect())
    }

    /// Whether the process is one of these, and not a later one with the same id.
    pub(crate) fn is_in(&self, pid: Pid, known: &StartTimes) -> bool {
        self.0.get(&pid).is_some_and(|stat| known.get(&pid) == Some(&stat.start_time))
    }

    /// All processes with an ancestor for which `is_root` holds.
    pub(crate) fn below(&self, is_root: impl Fn(Pid) -> bool) -> StartTimes {
        let ancestors = |pid: Pid| procfs::with_ancestors(pid, |pid| self.0.get(&pid)?.parent).skip(1);
        let found = self.0.iter().filter(|(pid, _)| ancestors(**pid).any(&is_root));
        found.map(|(pid, stat)| (*pid, stat.start_time)).collect()
    }

    /// Whether the process runs. A zombie does not.
    pub(crate) fn is_alive(&self, pid: Pid) -> bool {
        self.0.get(&pid).is_some_and(ProcessStat::is_alive)
    }
}
