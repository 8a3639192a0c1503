//! Everyone the child has started: its process group, its session if it has a terminal, and whoever carries its mark.

#[cfg(target_os = "linux")]
use std::collections::HashSet;
use std::io;
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::process::{self, Pid, Signal, WaitOptions};

use crate::leader;
use crate::mark::Mark;
#[cfg(target_os = "linux")]
use crate::{mark::MARK_VARIABLE, procfs};

/// How long one look at all processes may take where new ones come without end.
#[cfg(target_os = "linux")]
const LOOK_MAX: Duration = Duration::from_millis(100);

pub(crate) struct Group {
    id: Pid,
    /// Whether the leader has not been reaped. Until then its id, which is the group's, belongs to nobody else.
    held: Mutex<bool>,
    /// `TOMBOLO_CHILD=…`, as it stands in an environment.
    #[cfg(target_os = "linux")]
    mark: Vec<u8>,
}

impl Group {
    #[cfg(target_os = "linux")]
    pub(crate) fn new(leader: Pid, mark: &Mark) -> Self {
        Self {
            id: leader,
            held: Mutex::new(true),
            mark: format!("{MARK_VARIABLE}={}", mark.value()).into_bytes(),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn new(leader: Pid, _mark: &Mark) -> Self {
        Self { id: leader, held: Mutex::new(true) }
    }

    pub(crate) fn id(&self) -> Pid {
        self.id
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
            leader::reap(self.id);
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

    /// Kills everyone that is left, in the group or out of it, and says how many that were.
    pub(crate) fn sweep(&self) -> usize {
        let held = self.signal(Signal::KILL).is_ok();
        signal_all(Signal::KILL, |pid| {
            held && procfs::belongs(pid, self.id) || procfs::environment_has(pid, &self.mark)
        })
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

    pub(crate) fn sweep(&self) -> usize {
        let _ = self.signal(Signal::KILL);
        usize::from(self.has_others())
    }
}
