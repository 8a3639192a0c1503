//! Who uses a device, and what goes on in it: for its owner to see.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use jiff::Timestamp;
use parking_lot::Mutex;
use protocol::{
    device::{RecentError, RecentSession, RunningRequest},
    relay::{RelayAccepted, RelayError},
};
use relay::Peer;
use serde_json::Value;
use tokio::sync::watch;

/// How many sessions are remembered that used the device.
const SESSIONS_MAX: usize = 64;

/// How many failures are remembered.
const ERRORS_MAX: usize = 16;

/// How much is remembered of what was said of a failure.
const MESSAGE_CHARS_MAX: usize = 512;

/// Who uses a device, and what goes on in it. A clone is of the same device.
#[derive(Debug, Clone, Default)]
pub struct Usage(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    now: Mutex<Now>,
    changed: watch::Sender<()>,
}

impl Default for Inner {
    fn default() -> Self {
        Self { now: Mutex::default(), changed: watch::Sender::new(()) }
    }
}

#[derive(Debug, Default)]
struct Now {
    /// How many requests there were.
    count: u64,
    running: BTreeMap<u64, RunningRequest>,
    /// The last first.
    sessions: VecDeque<RecentSession>,
    /// The last first.
    errors: VecDeque<RecentError>,
    live: Option<Live>,
}

/// The connection that there is.
#[derive(Debug, Clone)]
pub struct Live {
    /// What the hub has accepted.
    pub accepted: RelayAccepted,
    /// Since when it is there.
    pub since: Timestamp,
    /// The connection itself.
    pub peer: Peer,
}

/// What goes on, and what was.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// Requests that go on, or of which something does that they have started; the oldest first.
    pub running: Vec<RunningRequest>,
    /// Who used the device lately, the last first.
    pub sessions: Vec<RecentSession>,
    /// What went wrong lately, the last first.
    pub errors: Vec<RecentError>,
}

/// A request that goes on, until this is dropped.
#[derive(Debug)]
pub(crate) struct Present {
    usage: Usage,
    key: u64,
}

impl Usage {
    /// What goes on, and what was.
    pub fn seen(&self) -> Seen {
        let now = self.0.now.lock();
        Seen {
            running: now.running.values().cloned().collect(),
            sessions: now.sessions.iter().cloned().collect(),
            errors: now.errors.iter().cloned().collect(),
        }
    }

    /// The connection that there is.
    pub fn live(&self) -> Option<Live> {
        self.0.now.lock().live.clone()
    }

    /// Tells whenever something has changed.
    pub fn follow(&self) -> watch::Receiver<()> {
        self.0.changed.subscribe()
    }

    /// There is a connection, or none any more.
    pub(crate) fn connected(&self, live: Option<Live>) {
        self.change(|now| now.live = live);
    }

    /// Something was asked.
    pub(crate) fn begin(&self, running: RunningRequest) -> Present {
        let key = self.change(|now| {
            now.count += 1;
            let at = now.sessions.iter().position(|session| session.session_id == running.session_id);
            let known = at.and_then(|at| now.sessions.remove(at));
            let requests = known.map_or(0, |session| session.requests) + 1;
            let (session_id, last_request_at) = (running.session_id.clone(), running.started_at);
            now.sessions.push_front(RecentSession { session_id, requests, last_request_at });
            now.sessions.truncate(SESSIONS_MAX);
            now.running.insert(now.count, running);
            now.count
        });
        Present { usage: self.clone(), key }
    }

    /// Something went wrong.
    pub(crate) fn failed(&self, method: &str, error: &RelayError) {
        // It may name a path as long as whoever asked liked.
        let message = error.message.chars().take(MESSAGE_CHARS_MAX).collect();
        let error =
            RecentError { failed_at: Timestamp::now(), method: method.to_owned(), code: error.code, message };
        self.change(|now| {
            now.errors.push_front(error);
            now.errors.truncate(ERRORS_MAX);
        });
    }

    fn change<T>(&self, change: impl FnOnce(&mut Now) -> T) -> T {
        let changed = change(&mut self.0.now.lock());
        self.0.changed.send_replace(());
        changed
    }
}

impl Present {
    /// More is known of it.
    pub(crate) fn note(&self, name: &str, value: Value) {
        self.usage.change(|now| {
            if let Some(running) = now.running.get_mut(&self.key) {
                running.summary.insert(name.into(), value);
            }
        });
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        self.usage.change(|now| now.running.remove(&self.key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(session: &str) -> RunningRequest {
        RunningRequest {
            method: "file.read".into(),
            session_id: Some(session.into()),
            run_id: None,
            started_at: Timestamp::now(),
            virtual_path: None,
            summary: serde_json::Map::new(),
        }
    }

    #[test]
    fn who_uses_it_is_seen_while_it_goes_on_and_after() {
        let usage = Usage::default();
        let mut changes = usage.follow();
        let first = usage.begin(running("a"));
        let second = usage.begin(running("b"));
        assert!(changes.has_changed().unwrap());
        assert_eq!(usage.seen().running.len(), 2);
        drop(first);
        drop(usage.begin(running("a")));
        let seen = usage.seen();
        assert_eq!(seen.running.len(), 1);
        let sessions: Vec<_> =
            seen.sessions.iter().map(|session| (session.session_id.as_deref(), session.requests)).collect();
        assert_eq!(sessions, [(Some("a"), 2), (Some("b"), 1)]);
        changes.mark_unchanged();
        drop(second);
        assert!(changes.has_changed().unwrap());
        assert!(usage.seen().running.is_empty());
    }

    #[test]
    fn no_more_is_remembered_than_may_be() {
        let usage = Usage::default();
        for number in 0..2 * SESSIONS_MAX {
            drop(usage.begin(running(&number.to_string())));
            usage.failed("x", &RelayError::new(protocol::relay::RelayErrorCode::NotFound, "no".repeat(1000)));
        }
        let seen = usage.seen();
        assert!(seen.errors.iter().all(|error| error.message.len() == MESSAGE_CHARS_MAX));
        assert_eq!((seen.sessions.len(), seen.errors.len()), (SESSIONS_MAX, ERRORS_MAX));
    }
}
