//! All processes that a child has started, found in four ways:
//!
//! - its process group, or its session if it has a terminal (a shell gives each job a group of its own);
//! - its mark, a random environment variable that descendants inherit;
//! - its descendants as recorded before it exited, for those that cleared their environment and left the session;
//! - orphans that only this child can have started (see [`orphans`]).

#[cfg(target_os = "linux")]
use std::cell::Cell;
#[cfg(target_os = "linux")]
use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::process::{self, Pid, Signal, WaitOptions};

use crate::child_mark::ChildMark;
use crate::orphans;
#[cfg(target_os = "linux")]
use crate::{
    orphans::OrphanOwner,
    process_snapshot::{ProcessSnapshot, StartTimes},
    procfs::{self, ProcessStat},
};

/// The time limit of one scan of all processes, in case new ones appear without end.
#[cfg(target_os = "linux")]
const SCAN_MAX: Duration = Duration::from_millis(100);

/// The time limit for killing what a killed process left behind.
#[cfg(target_os = "linux")]
const SURVIVORS_MAX: Duration = Duration::from_secs(1);

pub(crate) struct ProcessGroup {
    id: Pid,
    /// Whether the leader has not been reaped yet. Until then its zombie reserves the process id, which is also the group id:
    /// no unrelated process or group can get it, so signals to the group cannot hit others.
    leader_unreaped: Mutex<bool>,
    /// Whether processes were left although all were killed.
    survivors: AtomicBool,
    /// The descendants that were seen before the leader exited, with their start times.
    #[cfg(target_os = "linux")]
    descendants: Mutex<StartTimes>,
    #[cfg(target_os = "linux")]
    mark: ChildMark,
}

/// The result of one scan that kills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SweepResult {
    Empty,
    /// This many processes were found and killed.
    Killed(usize),
    /// Orphans were found that may belong to another child; they were left alone.
    Ambiguous,
}

impl ProcessGroup {
    #[cfg(target_os = "linux")]
    pub(crate) fn new(leader: Pid, mark: ChildMark) -> Self {
        let (leader_unreaped, survivors) = (Mutex::new(true), AtomicBool::new(false));
        Self { id: leader, leader_unreaped, survivors, descendants: Mutex::default(), mark }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn new(leader: Pid, _mark: ChildMark) -> Self {
        Self { id: leader, leader_unreaped: Mutex::new(true), survivors: AtomicBool::new(false) }
    }

    pub(crate) fn id(&self) -> Pid {
        self.id
    }

    /// Records that processes were left although all were killed.
    pub(crate) fn set_survivors(&self) {
        self.survivors.store(true, Relaxed);
    }

    pub(crate) fn has_survivors(&self) -> bool {
        self.survivors.load(Relaxed)
    }

    /// Signals the group. `NotFound` when the leader has been reaped and the group id may belong to others.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        let leader_unreaped = self.leader_unreaped.lock();
        if !*leader_unreaped {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(process::kill_process_group(self.id, signal)?)
    }

    /// Reaps the leader, which releases the group id.
    pub(crate) fn release(&self) {
        let mut leader_unreaped = self.leader_unreaped.lock();
        if *leader_unreaped {
            orphans::reap(self.id);
            // Where this process is init or a subreaper, orphans of the group are its children; reap these too.
            while let Ok(Some(_)) = process::waitpgid(self.id, WaitOptions::NOHANG) {}
            *leader_unreaped = false;
        }
    }
}

#[cfg(target_os = "linux")]
impl ProcessGroup {
    /// Whether the group has a live member besides the leader. Reads `/proc`, so call it on a blocking thread.
    pub(crate) fn has_others(&self) -> bool {
        let is_other = |pid: &Pid| {
            *pid != self.id && procfs::is_in_group_or_session(*pid, self.id) && procfs::is_alive(*pid)
        };
        *self.leader_unreaped.lock() && procfs::pids().any(|pid| is_other(&pid))
    }

    /// Signals the group and, if the child has a session of its own, the groups that a shell made in it.
    pub(crate) fn signal_session(&self, signal: Signal) {
        if self.signal(signal).is_ok() {
            signal_all(signal, |pid| procfs::is_in_group_or_session(pid, self.id));
        }
    }

    /// Records all current descendants of the child, because the parent links are lost when processes in between exit. Reads
    /// `/proc`, so call it on a blocking thread.
    pub(crate) fn record_descendants(&self) {
        let leader_alive = *self.leader_unreaped.lock() && procfs::is_alive(self.id);
        let mut descendants = self.descendants.lock();
        if !leader_alive && descendants.is_empty() {
            return;
        }
        let snapshot = ProcessSnapshot::read();
        let found = snapshot.below(|pid| leader_alive && pid == self.id || snapshot.is_in(pid, &descendants));
        descendants.extend(found);
    }

    /// Kills all remaining processes of the child, in the group or outside of it.
    pub(crate) fn sweep(&self) -> SweepResult {
        // Record the descendants before killing the leader: its children lose their parent link with it.
        self.record_descendants();
        let group_exists = self.signal(Signal::KILL).is_ok();
        let check_ancestry = orphans::is_subreaper() || !self.descendants.lock().is_empty();
        let ambiguous = Cell::new(false);
        let count = signal_all(Signal::KILL, |pid| {
            let in_group = group_exists && procfs::is_in_group_or_session(pid, self.id);
            if in_group || procfs::environment_contains(pid, self.mark.entry()) {
                return true;
            }
            if !check_ancestry {
                return false;
            }
            let owner = orphans::find_owner(pid, &self.mark, |pid| self.is_descendant(pid));
            ambiguous.set(ambiguous.get() || owner == OrphanOwner::Ambiguous);
            owner == OrphanOwner::Ours
        });
        match count {
            0 if ambiguous.get() => SweepResult::Ambiguous,
            0 => SweepResult::Empty,
            count => SweepResult::Killed(count),
        }
    }

    /// Whether this process was recorded as a descendant.
    fn is_descendant(&self, pid: Pid) -> bool {
        let start_time = self.descendants.lock().get(&pid).copied();
        start_time.is_some() && ProcessStat::read(pid).map(|stat| stat.start_time) == start_time
    }
}

/// Kills what is left of the children of another process, found by its [`parent_mark`](crate::parent_mark), and returns
/// whether there was anything. Only call it when that process has ended. A process that replaced its environment is not found.
/// Blocks for up to a second.
#[cfg(target_os = "linux")]
pub fn kill_children_of(parent_mark: &str) -> bool {
    if !crate::child_mark::is_parent_mark(parent_mark) {
        return false;
    }
    let entry = format!("{}={parent_mark}", crate::MARK_VARIABLE);
    let deadline = Instant::now() + SURVIVORS_MAX;
    let (mut any, mut scans_without) = (false, 0);
    // A process in the middle of `exec` has an empty environment, so two scans in a row must find none.
    while scans_without < 2 && Instant::now() < deadline {
        let found = signal_all(Signal::KILL, |pid| procfs::environment_contains(pid, entry.as_bytes()));
        any |= found > 0;
        scans_without = if found == 0 { scans_without + 1 } else { 0 };
        // Lets the killed processes exit. A scan of all processes takes some milliseconds, so this loop is no busy one.
        std::thread::yield_now();
    }
    any
}

/// On other systems processes are not found by their environment.
#[cfg(not(target_os = "linux"))]
pub fn kill_children_of(_parent_mark: &str) -> bool {
    false
}

/// Signals all live processes that match, and returns how many there were.
///
/// A process that forks and exits in a loop always has a new id by the time we get to it. So we repeat with the processes
/// that are new since the last listing until there are none.
#[cfg(target_os = "linux")]
pub(crate) fn signal_all(signal: Signal, matches: impl Fn(Pid) -> bool) -> usize {
    let signal_one = |pid: &Pid| {
        // The pidfd refers to one process even if the id is reused. We match again after opening it, so the process that
        // matches is the process that gets the signal.
        let Ok(fd) = process::pidfd_open(*pid, process::PidfdFlags::empty()) else { return false };
        matches(*pid) && procfs::is_alive(*pid) && process::pidfd_send_signal(fd, signal).is_ok()
    };
    let start = Instant::now();
    let mut seen = HashSet::new();
    let mut count = 0;
    loop {
        let new: Vec<Pid> = procfs::pids().filter(|pid| seen.insert(*pid)).collect();
        if new.is_empty() || start.elapsed() > SCAN_MAX {
            return count;
        }
        count += new.into_iter().filter(|pid| matches(*pid)).filter(signal_one).count();
    }
}

/// On other systems only the group is known.
#[cfg(not(target_os = "linux"))]
impl ProcessGroup {
    pub(crate) fn has_others(&self) -> bool {
        *self.leader_unreaped.lock() && process::test_kill_process_group(self.id).is_ok()
    }

    pub(crate) fn signal_session(&self, signal: Signal) {
        let _ = self.signal(signal);
    }

    pub(crate) fn record_descendants(&self) {}

    pub(crate) fn sweep(&self) -> SweepResult {
        let _ = self.signal(Signal::KILL);
        if self.has_others() { SweepResult::Killed(1) } else { SweepResult::Empty }
    }
}
