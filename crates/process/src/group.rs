//! Everyone the child has started: its process group, its session if it has a terminal, whoever carries its mark, and whoever
//! descends from it as far as that can be seen.

#[cfg(target_os = "linux")]
use std::cell::Cell;
#[cfg(target_os = "linux")]
use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::process::{self, Pid, Signal, WaitOptions};

use crate::mark::Mark;
use crate::orphans;
#[cfg(target_os = "linux")]
use crate::{
    orphans::Whose,
    procfs::{self, Stat},
};

/// How long one look at all processes may take where new ones come without end.
#[cfg(target_os = "linux")]
const LOOK_MAX: Duration = Duration::from_millis(100);

pub(crate) struct Group {
    id: Pid,
    /// Whether the leader has not been reaped. Until then its id, which is the group's, belongs to nobody else.
    held: Mutex<bool>,
    /// Whether somebody was left although all were killed.
    survived: AtomicBool,
    /// Who was seen below the leader before it ended, and when each was born.
    #[cfg(target_os = "linux")]
    kin: Mutex<HashMap<Pid, u64>>,
    #[cfg(target_os = "linux")]
    mark: Mark,
}

/// Who was found where nobody was to be left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    Nobody,
    /// This many were killed just now.
    Killed(usize),
    /// Somebody who may be of another child: they were left alone.
    Somebodys,
}

impl Group {
    #[cfg(target_os = "linux")]
    pub(crate) fn new(leader: Pid, mark: Mark) -> Self {
        let (held, survived, kin) = (Mutex::new(true), AtomicBool::new(false), Mutex::default());
        Self { id: leader, held, survived, kin, mark }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn new(leader: Pid, _mark: Mark) -> Self {
        Self { id: leader, held: Mutex::new(true), survived: AtomicBool::new(false) }
    }

    pub(crate) fn id(&self) -> Pid {
        self.id
    }

    /// Somebody was left although all were killed.
    pub(crate) fn has_survived(&self) {
        self.survived.store(true, Relaxed);
    }

    pub(crate) fn survived(&self) -> bool {
        self.survived.load(Relaxed)
    }

    /// Signals the group. `NotFound` when it has been released.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        let held = self.held.lock();
        if !*held {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(process::kill_process_group(self.id, signal)?)
    }

    /// Reaps the leader, and with it gives up the group's id.
    pub(crate) fn release(&self) {
        let mut held = self.held.lock();
        if *held {
            orphans::reap(self.id);
            // Where we are the init process, orphans of the group are ours to reap.
            while let Ok(Some(_)) = process::waitpgid(self.id, WaitOptions::NOHANG) {}
            *held = false;
        }
    }
}

#[cfg(target_os = "linux")]
impl Group {
    /// Whether anyone but the leader is left of the group. Reads `/proc`: for a blocking thread.
    pub(crate) fn has_others(&self) -> bool {
        let others = |pid: &Pid| *pid != self.id && procfs::belongs(*pid, self.id) && procfs::lives(*pid);
        *self.held.lock() && procfs::pids().any(|pid| others(&pid))
    }

    /// Signals the group and, if it has a session of its own, the groups that a shell made in it.
    pub(crate) fn signal_session(&self, signal: Signal) {
        if self.signal(signal).is_ok() {
            signal_all(signal, |pid| procfs::belongs(pid, self.id));
        }
    }

    /// Gets to know whoever descends from the child and would not be found after its end. Reads `/proc`: for a blocking
    /// thread.
    pub(crate) fn learn(&self) {
        let leads = *self.held.lock() && procfs::lives(self.id);
        let mut kin = self.kin.lock();
        if !leads && kin.is_empty() {
            return;
        }
        let all: HashMap<Pid, Stat> = procfs::pids().filter_map(|pid| Some((pid, Stat::of(pid)?))).collect();
        let is_kin = |pid: Pid| {
            let birth = all.get(&pid).map(|stat| &stat.birth);
            leads && pid == self.id || birth.is_some() && kin.get(&pid) == birth
        };
        let above = |pid: Pid| procfs::upwards(pid, |pid| all.get(&pid)?.parent).skip(1);
        let new: Vec<_> = all.iter().filter(|(pid, _)| above(**pid).any(is_kin)).collect();
        kin.extend(new.into_iter().map(|(pid, stat)| (*pid, stat.birth)));
    }

    /// Kills everyone that is left, in the group or out of it, and says who that were.
    pub(crate) fn sweep(&self) -> Left {
        // Before the leader is killed, as that takes those from it whom it started.
        self.learn();
        let held = self.signal(Signal::KILL).is_ok();
        let looks_up = orphans::are_taken_in() || !self.kin.lock().is_empty();
        let doubt = Cell::new(false);
        let count = signal_all(Signal::KILL, |pid| {
            if held && procfs::belongs(pid, self.id) || procfs::environment_has(pid, self.mark.entry()) {
                return true;
            }
            if !looks_up {
                return false;
            }
            let whose = orphans::whose(pid, &self.mark, |pid| self.knows(pid));
            doubt.set(doubt.get() || whose == Whose::Somebodys);
            whose == Whose::Ours
        });
        match count {
            0 if doubt.get() => Left::Somebodys,
            0 => Left::Nobody,
            count => Left::Killed(count),
        }
    }

    /// Whether this is one of those who were seen below the leader.
    fn knows(&self, pid: Pid) -> bool {
        let birth = self.kin.lock().get(&pid).copied();
        birth.is_some() && Stat::of(pid).map(|stat| stat.birth) == birth
    }
}

/// Signals everyone alive who fits, and says how many they were.
///
/// Someone who forks and exits again and again is always elsewhere by the time we look, so we go on looking at who is
/// new until nobody is.
#[cfg(target_os = "linux")]
fn signal_all(signal: Signal, fits: impl Fn(Pid) -> bool) -> usize {
    let signal_one = |pid: &Pid| {
        // From here on the descriptor stands for one process, so whoever fits now is whoever gets the signal.
        let Ok(fd) = process::pidfd_open(*pid, process::PidfdFlags::empty()) else { return false };
        fits(*pid) && procfs::lives(*pid) && process::pidfd_send_signal(fd, signal).is_ok()
    };
    let start = Instant::now();
    let (mut seen, mut count) = (HashSet::new(), 0);
    loop {
        let new: Vec<Pid> = procfs::pids().filter(|pid| seen.insert(*pid)).collect();
        if new.is_empty() || start.elapsed() > LOOK_MAX {
            return count;
        }
        count += new.into_iter().filter(|pid| fits(*pid)).filter(signal_one).count();
    }
}

/// Elsewhere than on Linux only the group is known, and its leader is held until the end.
#[cfg(not(target_os = "linux"))]
impl Group {
    pub(crate) fn has_others(&self) -> bool {
        *self.held.lock() && process::test_kill_process_group(self.id).is_ok()
    }

    pub(crate) fn signal_session(&self, signal: Signal) {
        let _ = self.signal(signal);
    }

    pub(crate) fn learn(&self) {}

    pub(crate) fn sweep(&self) -> Left {
        let _ = self.signal(Signal::KILL);
        if self.has_others() { Left::Killed(1) } else { Left::Nobody }
    }
}
