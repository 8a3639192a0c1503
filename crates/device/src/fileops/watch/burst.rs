//! Changes that came together, told as few.

use std::{collections::HashMap, ffi::OsString, os::unix::ffi::OsStringExt};

use files::FileChange;
use jiff::Timestamp;
use protocol::relay::{
    RelayPath,
    file::{ChangeKind, WatchedChange},
};

use crate::fileops::Spot;

/// How many changes are told one by one; of more it is told that there were too many.
const CHANGES_MAX: usize = 512;

/// Changes that came together.
#[derive(Debug)]
pub(super) struct Burst<'a> {
    spot: &'a Spot,
    /// In the order in which they came; none where one was taken back.
    changes: Vec<Option<WatchedChange>>,
    /// Where the change of a path is.
    of: HashMap<RelayPath, usize>,
    missed: bool,
}

impl<'a> Burst<'a> {
    pub(super) fn new(spot: &'a Spot) -> Self {
        Self { spot, changes: Vec::new(), of: HashMap::new(), missed: false }
    }

    pub(super) fn extend(&mut self, seen: Vec<FileChange>) {
        for seen in seen {
            match seen {
                FileChange::Created(path) => self.at(path, ChangeKind::Created),
                FileChange::Modified(path) => self.at(path, ChangeKind::Modified),
                FileChange::Deleted(path) => self.at(path, ChangeKind::Deleted),
                FileChange::Renamed { from, to } => self.renamed(from, to),
                FileChange::Missed => self.missed = true,
                FileChange::Over => {}
            }
            if self.changes.len() > CHANGES_MAX {
                self.missed = true;
            }
            if self.missed {
                return;
            }
        }
    }

    /// What is to be told; the root and the time are the same for all.
    pub(super) fn told(self) -> Vec<WatchedChange> {
        if self.missed {
            return vec![self.change(self.spot.path.clone(), ChangeKind::Unknown)];
        }
        self.changes.into_iter().flatten().collect()
    }

    fn at(&mut self, path: OsString, kind: ChangeKind) {
        match relay_path(path) {
            Some(path) => self.put(path, kind),
            // What has a name that cannot be said: look again.
            None => self.missed = true,
        }
    }

    fn put(&mut self, path: RelayPath, kind: ChangeKind) {
        use ChangeKind::{Created, Deleted, Modified, Renamed};
        let Some(before) = self.of.get(&path).and_then(|at| self.changes.get_mut(*at)) else {
            return self.push(path, kind);
        };
        match (before.as_ref().map(|change| change.kind), kind) {
            (Some(Created | Renamed), Modified | Created) => {}
            // It came and went.
            (Some(Created), Deleted) => *before = None,
            (Some(Renamed), Deleted) => {
                let gone = before.take().and_then(|change| change.old_path);
                self.of.remove(&path);
                if let Some(gone) = gone {
                    self.put(gone, Deleted);
                }
            }
            (Some(Deleted), Created) => self.replace(&path, Modified),
            (_, kind) => self.replace(&path, kind),
        }
    }

    fn renamed(&mut self, from: OsString, to: OsString) {
        let (Some(from), Some(to)) = (relay_path(from), relay_path(to)) else {
            self.missed = true;
            return;
        };
        let before = self.of.remove(&from).and_then(|at| self.changes.get_mut(at)?.take());
        match before {
            // Nobody knows the name before.
            Some(WatchedChange { kind: ChangeKind::Created, .. }) => self.put(to, ChangeKind::Created),
            Some(WatchedChange { kind: ChangeKind::Renamed, old_path: Some(first), .. }) => {
                self.push_renamed(first, to)
            }
            _ => self.push_renamed(from, to),
        }
    }

    fn push(&mut self, path: RelayPath, kind: ChangeKind) {
        let change = self.change(path.clone(), kind);
        self.of.insert(path, self.changes.len());
        self.changes.push(Some(change));
    }

    fn push_renamed(&mut self, from: RelayPath, to: RelayPath) {
        // Whatever had the name before is replaced.
        if let Some(before) = self.of.remove(&to).and_then(|at| self.changes.get_mut(at)) {
            *before = None;
        }
        let change = WatchedChange { old_path: Some(from), ..self.change(to.clone(), ChangeKind::Renamed) };
        self.of.insert(to, self.changes.len());
        self.changes.push(Some(change));
    }

    fn replace(&mut self, path: &RelayPath, kind: ChangeKind) {
        let change = self.change(path.clone(), kind);
        if let Some(before) = self.of.get(path).and_then(|at| self.changes.get_mut(*at)) {
            *before = Some(change);
        }
    }

    fn change(&self, path: RelayPath, kind: ChangeKind) -> WatchedChange {
        WatchedChange {
            root_id: self.spot.root_id.clone(),
            path,
            kind,
            old_path: None,
            ts: Timestamp::UNIX_EPOCH,
        }
    }
}

/// A path seen from the root, as others are told it.
fn relay_path(path: OsString) -> Option<RelayPath> {
    let path = String::from_utf8(path.into_vec()).ok()?;
    path.trim_start_matches('/').parse().ok()
}
