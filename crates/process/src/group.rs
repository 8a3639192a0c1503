//! Everyone the child has started: its process group, its session if it has a terminal, and whoever carries its mark.

use std::io;

use parking_lot::Mutex;
use rustix::process::{self, Pid, Signal, WaitOptions};

use crate::leader;
use crate::mark::Mark;
#[cfg(target_os = "linux")]
use crate::{mark::MARK_VARIABLE, procfs};

pub(crate) struct Group {
    id: Pid,
    /// Whether the leader has not been reaped. Until then its id, which is the group's, belongs to nobody else.
    held: Mutex<bool>,
    /// `TOMBOLO_CHILD=…`, as it stands in an environment.
    #[cfg(target_os = "linux")]
    mark: Vec<u8>,
    /// When the leader started: its descendants are not older.
    #[cfg(target_os = "linux")]
    born: u64,
}

impl Group {
    #[cfg(target_os = "linux")]
    pub(crate) fn new(leader: Pid, mark: &Mark) -> Self {
        Self {
            id: leader,
            held: Mutex::new(true),
            mark: format!("{MARK_VARIABLE}={}", mark.value()).into_bytes(),
            born: procfs::entry(leader).map_or(0, |entry| entry.started),
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
        *self.held.lock() && procfs::entries().any(|entry| self.has(&entry) && entry.pid != self.id)
    }

    /// Signals the group and, if it has a session of its own, the groups that a shell made in it.
    pub(crate) fn signal_session(&self, signal: Signal) {
        let _ = self.signal(signal);
        for entry in procfs::entries().filter(|entry| self.has(entry) && entry.group != self.id) {
            procfs::signal(&entry, signal);
        }
    }

    /// Kills everyone that is left and says how many that were.
    pub(crate) fn sweep(&self) -> usize {
        let held = *self.held.lock();
        let _ = self.signal(Signal::KILL);
        let ours = |entry: &procfs::Entry| {
            !entry.ended
                && entry.started >= self.born
                && (held && self.has(entry) || procfs::environment_has(entry.pid, &self.mark))
        };
        procfs::entries().filter(ours).map(|entry| procfs::signal(&entry, Signal::KILL)).count()
    }

    fn has(&self, entry: &procfs::Entry) -> bool {
        !entry.ended && (entry.group == self.id || entry.session == self.id)
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
