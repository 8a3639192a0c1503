//! Who is there for each worker: who watches it, and who drives it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use jiff::Timestamp;
use parking_lot::Mutex;
use protocol::{
    RuntimeId, SessionId, UserName,
    presence::{PresentViewer, RecentDriver, WorkerPresence},
};
use tokio::sync::watch;

/// How long somebody drives a worker after they did something.
const DRIVING: Duration = Duration::from_secs(10 * 60);

/// How many are shown of those who watch, and of those who drive: people look at this.
const SHOWN_MAX: usize = 64;

/// Of how many workers it is remembered who drives them while nobody watches.
const UNWATCHED_MAX: usize = 4096;

type Name = (RuntimeId, SessionId);

/// Who is there for each worker. A clone is the same.
#[derive(Clone, Default)]
pub(crate) struct Presences(Arc<Mutex<HashMap<Name, Room>>>);

/// Who is there for one.
struct Room {
    watchers: BTreeMap<UserName, (u64, Timestamp)>,
    drivers: BTreeMap<UserName, Timestamp>,
    changes: watch::Sender<WorkerPresence>,
}

impl Presences {
    /// Somebody watches, until it is dropped.
    pub(crate) fn watch(&self, runtime: &RuntimeId, worker: &SessionId, user: &UserName) -> Seat {
        let name = (runtime.clone(), worker.clone());
        let mut rooms = self.0.lock();
        let room = rooms.entry(name.clone()).or_insert_with(Room::new);
        room.watchers.entry(user.clone()).or_insert_with(|| (0, Timestamp::now())).0 += 1;
        room.tell();
        let changes = room.changes.subscribe();
        Seat { presences: self.clone(), name, user: user.clone(), changes }
    }

    /// Somebody sent, answered or cancelled something.
    pub(crate) fn drove(&self, runtime: &RuntimeId, worker: &SessionId, user: &UserName) {
        let name = (runtime.clone(), worker.clone());
        let mut rooms = self.0.lock();
        if !rooms.contains_key(&name) && rooms.len() >= UNWATCHED_MAX {
            rooms.retain(|_, room| room.is_of_use());
            if rooms.len() >= UNWATCHED_MAX {
                return;
            }
        }
        let room = rooms.entry(name).or_insert_with(Room::new);
        room.drivers.insert(user.clone(), Timestamp::now());
        room.tell();
    }

    /// Who is there now.
    pub(crate) fn get(&self, runtime: &RuntimeId, worker: &SessionId) -> WorkerPresence {
        let name = (runtime.clone(), worker.clone());
        self.0.lock().get_mut(&name).map(Room::presence).unwrap_or_default()
    }

    fn leave(&self, name: &Name, user: &UserName) {
        let mut rooms = self.0.lock();
        let Some(room) = rooms.get_mut(name) else { return };
        if let Some((sockets, _)) = room.watchers.get_mut(user) {
            *sockets -= 1;
        }
        room.watchers.retain(|_, (sockets, _)| *sockets > 0);
        room.tell();
        if !room.is_of_use() {
            rooms.remove(name);
        }
    }
}

impl Room {
    fn new() -> Self {
        let changes = watch::Sender::new(WorkerPresence::default());
        Self { watchers: BTreeMap::new(), drivers: BTreeMap::new(), changes }
    }

    /// Tells those who watch who is there.
    fn tell(&mut self) {
        let presence = self.presence();
        self.changes.send_replace(presence);
    }

    fn presence(&mut self) -> WorkerPresence {
        self.forget_those_who_left();
        let watchers = self.watchers.iter().take(SHOWN_MAX).map(|(user, (sockets, connected_at))| {
            PresentViewer { user: user.clone(), sockets: *sockets, connected_at: *connected_at }
        });
        let mut drivers: Vec<RecentDriver> = self
            .drivers
            .iter()
            .map(|(user, last_active_at)| RecentDriver {
                user: user.clone(),
                last_active_at: *last_active_at,
            })
            .collect();
        drivers.sort_by_key(|driver| std::cmp::Reverse(driver.last_active_at));
        WorkerPresence { watchers: watchers.collect(), drivers }
    }

    /// Forgets those who did nothing for long, and the first of those who are too many.
    fn forget_those_who_left(&mut self) {
        let since = Timestamp::now() - DRIVING;
        self.drivers.retain(|_, last_active_at| *last_active_at >= since);
        while self.drivers.len() > SHOWN_MAX
            && let Some(first) = self.drivers.iter().min_by_key(|(_, last_active_at)| **last_active_at)
        {
            let first = first.0.clone();
            self.drivers.remove(&first);
        }
    }

    fn is_of_use(&mut self) -> bool {
        self.forget_those_who_left();
        !self.watchers.is_empty() || !self.drivers.is_empty()
    }
}

/// Somebody who watches.
pub(crate) struct Seat {
    presences: Presences,
    name: Name,
    user: UserName,
    changes: watch::Receiver<WorkerPresence>,
}

impl Seat {
    /// Who is there, once that has changed. Cancel safe.
    pub(crate) async fn changed(&mut self) -> WorkerPresence {
        // It fails only when there is nothing to watch any more.
        if self.changes.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        self.changes.borrow_and_update().clone()
    }

    /// Has it told who is there, even if that does not change.
    pub(crate) fn tell(&mut self) {
        self.changes.mark_changed();
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.presences.leave(&self.name, &self.user);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_is_there_until_they_leave() {
        let presences = Presences::default();
        let (runtime, worker) = ("box".parse().unwrap(), "s".parse().unwrap());
        let (ada, bob): (UserName, UserName) = ("ada".parse().unwrap(), "bob".parse().unwrap());
        let watching = || {
            let presence = presences.get(&runtime, &worker);
            let each =
                presence.watchers.into_iter().map(|watcher| (watcher.user.to_string(), watcher.sockets));
            each.collect::<Vec<_>>()
        };
        let seats = [&bob, &ada, &ada].map(|user| presences.watch(&runtime, &worker, user));
        assert_eq!(watching(), [("ada".to_owned(), 2), ("bob".to_owned(), 1)]);
        drop(seats);
        assert_eq!(watching(), []);
        assert!(presences.0.lock().is_empty());
    }

    #[test]
    fn as_many_drivers_are_remembered_as_are_shown() {
        let presences = Presences::default();
        let (runtime, worker) = ("box".parse().unwrap(), "s".parse().unwrap());
        for number in 0..SHOWN_MAX + 3 {
            presences.drove(&runtime, &worker, &format!("u{number}").parse().unwrap());
        }
        let drivers = presences.get(&runtime, &worker).drivers;
        assert_eq!(drivers.len(), SHOWN_MAX);
        assert_eq!(drivers[0].user.as_str(), format!("u{}", SHOWN_MAX + 2));
    }
}
