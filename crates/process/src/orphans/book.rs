//! Which children there are, so that everybody else below this process is known to be an orphan.

use std::{io, process::Child, time::Duration};

use parking_lot::Mutex;
use rustix::process::{self, Pid, WaitOptions};
use tokio::{
    signal::unix::{SignalKind, signal},
    task,
    time::sleep,
};

use crate::{
    leader,
    mark::Mark,
    procfs::{self, Stat},
};

/// At least so much time is between two looks for the dead, however many die: each look is at all processes.
const BURY_EVERY: Duration = Duration::from_secs(1);

/// The children of this process.
struct Book {
    takes_in: bool,
    children: Vec<Entry>,
}

/// A child, until nobody is left that it has started.
struct Entry {
    /// Nobody else's until it has been reaped.
    id: Pid,
    reaped: bool,
    /// Nobody that was there before descends from it.
    birth: u64,
    /// Whether whoever is left of it is to be killed.
    ends: bool,
    /// None if it was not started here.
    mark: Option<Mark>,
}

static BOOK: Mutex<Book> = Mutex::new(Book { takes_in: false, children: Vec::new() });

/// A child's entry in the book, which is taken out when this is dropped.
#[derive(Debug)]
pub(crate) struct Listing(Mark);

/// Whose a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// It descends from the child that was asked about, or from another one that ends as well.
    Ours,
    /// It descends from another one, or from nobody here.
    Others,
    /// It descends from one of several, and cannot be told from which.
    Somebodys,
}

pub(super) fn open() -> io::Result<()> {
    let mut book = BOOK.lock();
    if !book.takes_in {
        process::set_child_subreaper(Some(process::getpid()))?;
        let strangers = procfs::pids().filter(|pid| is_ours(*pid) && !book.lists(*pid));
        let entries: Vec<_> = strangers.map(|id| Entry::new(id, None)).collect();
        book.children.extend(entries);
        book.takes_in = true;
    }
    Ok(())
}

/// Starts a child. Nobody sees it without its entry.
pub(crate) fn born(mark: &Mark, start: impl FnOnce() -> io::Result<Child>) -> io::Result<(Child, Listing)> {
    let mut book = BOOK.lock();
    let child = start()?;
    book.children.push(Entry::new(Pid::from_child(&child), Some(mark.clone())));
    Ok((child, Listing(mark.clone())))
}

/// Reaps a child. From then on its id may be somebody else's.
pub(crate) fn reap(id: Pid) {
    let mut book = BOOK.lock();
    leader::reap(id);
    if let Some(entry) = book.children.iter_mut().find(|entry| entry.is(id)) {
        entry.reaped = true;
    }
}

/// Whether orphans are taken in here.
pub(crate) fn are_taken_in() -> bool {
    BOOK.lock().takes_in
}

/// Whose a process is: of the child that has this mark, of which these are known already, or of another.
pub(crate) fn whose(pid: Pid, mark: &Mark, known: impl Fn(Pid) -> bool) -> Whose {
    let us = process::getpid();
    let mut top = None;
    for above in procfs::upwards(pid, procfs::parent) {
        if known(above) {
            return Whose::Ours;
        }
        if above == us {
            return top.map_or(Whose::Others, |top| BOOK.lock().whose(pid, top, mark));
        }
        top = Some(above);
    }
    Whose::Others
}

impl Book {
    /// A child that has not been reaped has this id.
    fn lists(&self, id: Pid) -> bool {
        self.children.iter().any(|entry| entry.is(id))
    }

    /// Whose a process is at whose top there is this child of ours, or orphan.
    fn whose(&self, pid: Pid, top: Pid, mark: &Mark) -> Whose {
        let Some(stat) = Stat::of(pid).filter(Stat::lives) else { return Whose::Others };
        if !self.takes_in || self.lists(top) || !is_ours(top) {
            return Whose::Others;
        }
        let (ours, others): (Vec<_>, Vec<_>) =
            self.children.iter().partition(|entry| entry.mark.as_ref() == Some(mark));
        if others.iter().any(|entry| entry.claims(pid)) {
            return Whose::Others;
        }
        let may_be_of = |entry: &&Entry| entry.birth <= stat.birth;
        match (ours.iter().any(may_be_of), others.iter().filter(|entry| !entry.ends).any(may_be_of)) {
            // If it is not ours, then of somebody who ends, or has ended.
            (_, false) => Whose::Ours,
            (true, true) => Whose::Somebodys,
            (false, true) => Whose::Others,
        }
    }

    /// Buries the orphans that have died.
    fn bury(&self) {
        if !self.takes_in {
            return;
        }
        let dead = |pid: &Pid| is_ours(*pid) && !self.lists(*pid) && !procfs::lives(*pid);
        for pid in procfs::pids().filter(dead) {
            let _ = process::waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}

impl Entry {
    fn new(id: Pid, mark: Option<Mark>) -> Self {
        let birth = Stat::of(id).map_or(0, |stat| stat.birth);
        Self { id, reaped: false, birth, ends: false, mark }
    }

    fn is(&self, id: Pid) -> bool {
        self.id == id && !self.reaped
    }

    /// Whether a process can be seen to be of this child's.
    fn claims(&self, pid: Pid) -> bool {
        let Some(mark) = &self.mark else { return false };
        !self.reaped && procfs::belongs(pid, self.id) || procfs::environment_has(pid, mark.entry())
    }
}

impl Listing {
    /// Whoever is left of it is to be killed from now on.
    pub(crate) fn ends(&self) {
        let mut book = BOOK.lock();
        if let Some(entry) = book.children.iter_mut().find(|entry| entry.mark.as_ref() == Some(&self.0)) {
            entry.ends = true;
        }
    }
}

impl Drop for Listing {
    fn drop(&mut self) {
        BOOK.lock().children.retain(|entry| entry.mark.as_ref() != Some(&self.0));
    }
}

/// Whether a process is directly below this one.
fn is_ours(pid: Pid) -> bool {
    procfs::parent(pid) == Some(process::getpid())
}

pub(super) async fn bury() -> io::Result<()> {
    let mut ended = signal(SignalKind::child())?;
    while ended.recv().await.is_some() {
        let _ = task::spawn_blocking(|| BOOK.lock().bury()).await;
        sleep(BURY_EVERY).await;
    }
    Ok(())
}
