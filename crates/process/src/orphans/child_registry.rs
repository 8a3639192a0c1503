//! The registry of children. Every other process directly below this one is an orphan.

use std::{io, process::Child, time::Duration};

use parking_lot::Mutex;
use rustix::{
    io::Errno,
    process::{self, Pid, WaitId, WaitIdOptions, WaitOptions},
};
use tokio::{
    signal::unix::{SignalKind, signal},
    task,
    time::sleep,
};

use crate::{
    child_mark::ChildMark,
    group_leader,
    procfs::{self, ProcessStat},
    survivor_record::note_change,
};

/// The minimum pause between two scans for dead orphans, however many die: a scan reads all of `/proc`.
const REAP_INTERVAL: Duration = Duration::from_secs(1);

/// The children of this process.
struct ChildRegistry {
    is_subreaper: bool,
    children: Vec<ChildEntry>,
}

/// A child, until none of its descendants is left.
struct ChildEntry {
    /// The process id. It identifies the child until it is reaped.
    id: Pid,
    reaped: bool,
    /// The start time. Processes that started earlier do not descend from the child.
    start_time: u64,
    /// Whether the child is being stopped, so that its descendants are to be killed.
    ending: bool,
    /// `None` if it was not started by this crate.
    mark: Option<ChildMark>,
}

static REGISTRY: Mutex<ChildRegistry> =
    Mutex::new(ChildRegistry { is_subreaper: false, children: Vec::new() });

/// A child's entry in the registry; dropping it removes the entry.
#[derive(Debug)]
pub(crate) struct ChildRegistration(ChildMark);

/// The child that a process descends from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrphanOwner {
    /// The child in question, or another child that is being stopped as well.
    Ours,
    /// Another child, or none.
    Others,
    /// One of several children; it cannot be determined which.
    Ambiguous,
}

pub(super) fn become_subreaper() -> io::Result<()> {
    let mut registry = REGISTRY.lock();
    if !registry.is_subreaper {
        process::set_child_subreaper(Some(process::getpid()))?;
        if this_process_has_children() {
            let unregistered = procfs::pids().filter(|pid| is_our_child(*pid) && !registry.contains(*pid));
            let entries: Vec<_> = unregistered.map(|id| ChildEntry::new(id, None)).collect();
            registry.children.extend(entries);
        }
        registry.is_subreaper = true;
    }
    Ok(())
}

/// Starts a child and registers it under one lock, so that no scan takes it for an orphan.
pub(crate) fn spawn_registered(
    mark: &ChildMark,
    spawn: impl FnOnce() -> io::Result<Child>,
) -> io::Result<(Child, ChildRegistration)> {
    let mut registry = REGISTRY.lock();
    let child = spawn()?;
    registry.children.push(ChildEntry::new(Pid::from_child(&child), Some(mark.clone())));
    drop(registry);
    note_change();
    Ok((child, ChildRegistration(mark.clone())))
}

/// Reaps a child. From then on its id may belong to another process, so both happen under one lock.
pub(crate) fn reap(id: Pid) {
    let mut registry = REGISTRY.lock();
    group_leader::reap(id);
    if let Some(entry) = registry.children.iter_mut().find(|entry| entry.has_id(id)) {
        entry.reaped = true;
    }
    drop(registry);
    note_change();
}

/// Whether there are children that may have descendants.
pub(crate) fn has_children() -> bool {
    !REGISTRY.lock().children.is_empty()
}

/// Whether this process adopts orphans.
pub(crate) fn is_subreaper() -> bool {
    REGISTRY.lock().is_subreaper
}

/// Determines which child `pid` descends from. `mark` is that of the child in question, and `is_descendant` knows its
/// recorded descendants.
pub(crate) fn find_owner(pid: Pid, mark: &ChildMark, is_descendant: impl Fn(Pid) -> bool) -> OrphanOwner {
    let this_process = process::getpid();
    let mut top = None;
    for ancestor in procfs::with_ancestors(pid, procfs::parent) {
        if is_descendant(ancestor) {
            return OrphanOwner::Ours;
        }
        if ancestor == this_process {
            return top.map_or(OrphanOwner::Others, |top| REGISTRY.lock().find_owner(pid, top, mark));
        }
        top = Some(ancestor);
    }
    OrphanOwner::Others
}

impl ChildRegistry {
    /// Whether a child that was not reaped has this id.
    fn contains(&self, id: Pid) -> bool {
        self.children.iter().any(|entry| entry.has_id(id))
    }

    /// Determines which child `pid` descends from. `top` is its ancestor (or itself) directly below this process.
    fn find_owner(&self, pid: Pid, top: Pid, mark: &ChildMark) -> OrphanOwner {
        let Some(stat) = ProcessStat::read(pid).filter(ProcessStat::is_alive) else {
            return OrphanOwner::Others;
        };
        if !self.is_subreaper || self.contains(top) || !is_our_child(top) {
            return OrphanOwner::Others;
        }
        let (ours, others): (Vec<_>, Vec<_>) =
            self.children.iter().partition(|entry| entry.mark.as_ref() == Some(mark));
        if others.iter().any(|entry| entry.claims(pid)) {
            return OrphanOwner::Others;
        }
        let may_descend_from = |entry: &&ChildEntry| entry.start_time <= stat.start_time;
        let may_be_ours = ours.iter().any(may_descend_from);
        let may_be_others = others.iter().filter(|entry| !entry.ending).any(may_descend_from);
        match (may_be_ours, may_be_others) {
            // If it is not ours, it descends from a child that is being stopped or is already gone.
            (_, false) => OrphanOwner::Ours,
            (true, true) => OrphanOwner::Ambiguous,
            (false, true) => OrphanOwner::Others,
        }
    }

    /// Reaps dead orphans.
    fn reap_orphans(&self) {
        if !self.is_subreaper {
            return;
        }
        let is_dead_orphan =
            |pid: &Pid| is_our_child(*pid) && !self.contains(*pid) && !procfs::is_alive(*pid);
        for pid in procfs::pids().filter(is_dead_orphan) {
            let _ = process::waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}

impl ChildEntry {
    fn new(id: Pid, mark: Option<ChildMark>) -> Self {
        let start_time = ProcessStat::read(id).map_or(0, |stat| stat.start_time);
        Self { id, reaped: false, start_time, ending: false, mark }
    }

    fn has_id(&self, id: Pid) -> bool {
        self.id == id && !self.reaped
    }

    /// Whether `pid` carries this child's mark or is in its group.
    fn claims(&self, pid: Pid) -> bool {
        let Some(mark) = &self.mark else { return false };
        !self.reaped && procfs::is_in_group_or_session(pid, self.id)
            || procfs::environment_contains(pid, mark.entry())
    }
}

impl ChildRegistration {
    /// Declares that the child is being stopped: all its descendants are to be killed.
    pub(crate) fn mark_ending(&self) {
        let mut registry = REGISTRY.lock();
        if let Some(entry) = registry.children.iter_mut().find(|entry| entry.mark.as_ref() == Some(&self.0)) {
            entry.ending = true;
        }
    }
}

impl Drop for ChildRegistration {
    fn drop(&mut self) {
        REGISTRY.lock().children.retain(|entry| entry.mark.as_ref() != Some(&self.0));
    }
}

/// Whether any process is directly below this one; reaps none.
// A program calls this at its start, when it usually has none. One system call then replaces the scan of all of /proc, which
// takes 10 µs per process of the machine.
fn this_process_has_children() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(process::waitid(WaitId::All, look), Err(Errno::CHILD))
}

/// Whether a process is directly below this one.
fn is_our_child(pid: Pid) -> bool {
    procfs::parent(pid) == Some(process::getpid())
}

pub(super) async fn reap_orphans() -> io::Result<()> {
    let mut child_exited = signal(SignalKind::child())?;
    while child_exited.recv().await.is_some() {
        let _ = task::spawn_blocking(|| REGISTRY.lock().reap_orphans()).await;
        sleep(REAP_INTERVAL).await;
    }
    Ok(())
}
