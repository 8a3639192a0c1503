//! The open waits of all sessions, and a stream of their changes.

use std::{
    collections::{HashMap, VecDeque},
    num::NonZeroU64,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use jiff::Timestamp;
use journal::{FrameBuffer, JournalItem, Retention, RingJournal, RingReader, RingWriter, StartPosition};
use parking_lot::Mutex;
use protocol::{
    SessionId, WaitId,
    wait::{Wait, WaitEvent, WaitSettlement},
};

use crate::wait_table::withdrawn_outcome;

/// The changes that a slow subscriber may still read. One that is further behind gets a new snapshot.
const RETENTION: Retention =
    Retention { events: NonZeroU64::new(1024).unwrap(), bytes: NonZeroU64::new(4 << 20).unwrap() };

/// The number of settled waits whose session is remembered, so that a late answer is rejected by that session.
const SETTLED_MAX: usize = 1024;

/// The open waits of all sessions. Workers publish theirs here after each commit.
pub(crate) struct OpenWaits {
    state: Mutex<OpenWaitsState>,
    ring: RingJournal,
}

struct OpenWaitsState {
    /// The open waits of each session that has any.
    open: HashMap<SessionId, Vec<Wait>>,
    /// The waits that were settled last, the oldest first.
    settled: VecDeque<(WaitId, SessionId)>,
    writer: RingWriter,
}

impl OpenWaits {
    pub(crate) fn new() -> Self {
        let (writer, ring) = RingJournal::new(RETENTION);
        let state = OpenWaitsState { open: HashMap::new(), settled: VecDeque::new(), writer };
        Self { state: Mutex::new(state), ring }
    }

    /// Replaces the open waits of a session and publishes the changes. `settled` returns a wait that is no longer open.
    pub(crate) fn publish(
        &self,
        session: &SessionId,
        open: Vec<Wait>,
        settled: impl Fn(WaitId) -> Option<Wait>,
    ) {
        let mut state = self.state.lock();
        let before = state.open.remove(session).unwrap_or_default();
        let is_in = |waits: &[Wait], wait: &Wait| waits.iter().any(|other| other.id == wait.id);
        let mut events = Vec::new();
        for wait in before.iter().filter(|wait| !is_in(&open, wait)) {
            let wait = settled(wait.id).unwrap_or_else(|| withdrawn(wait.clone()));
            state.remember(wait.id, session);
            events.push(WaitEvent::Settled { wait: wait.into() });
        }
        let new = open.iter().filter(|wait| !is_in(&before, wait));
        events.extend(new.map(|wait| WaitEvent::Opened { wait: wait.clone().into() }));
        if !open.is_empty() {
            state.open.insert(session.clone(), open);
        }
        state.writer.append(FrameBuffer::from_iter(events.iter().map(json)));
    }

    /// Removes the waits of a deleted session.
    pub(crate) fn remove_session(&self, session: &SessionId) {
        self.publish(session, Vec::new(), |_| None);
    }

    /// All open waits, the oldest first.
    pub(crate) fn list(&self) -> Vec<Wait> {
        self.state.lock().list()
    }

    /// The session of a wait that is open or was settled lately.
    pub(crate) fn session_of(&self, id: WaitId) -> Option<SessionId> {
        let state = self.state.lock();
        let open = state.open.iter().find(|(_, waits)| waits.iter().any(|wait| wait.id == id));
        let settled = || state.settled.iter().find(|(settled, _)| *settled == id);
        open.map(|(session, _)| session).or_else(|| settled().map(|(_, session)| session)).cloned()
    }

    /// Subscribes to the waits: a snapshot, then every change after it.
    pub(crate) fn subscribe(self: &Arc<Self>) -> WaitSubscription {
        let state = self.state.lock();
        // Under the lock, so that no change falls between the snapshot and the reader.
        let (waits, reader) = (state.list(), self.ring.reader(StartPosition::Newest));
        drop(state);
        WaitSubscription {
            open_waits: Arc::clone(self),
            snapshot: Some(json(&WaitEvent::Snapshot { waits })),
            reader: reader.ok(),
        }
    }

    /// Ends the subscriptions after the newest change.
    pub(crate) fn seal(&self) {
        self.state.lock().writer.seal();
    }
}

impl OpenWaitsState {
    fn list(&self) -> Vec<Wait> {
        let mut waits: Vec<Wait> = self.open.values().flatten().cloned().collect();
        waits.sort_by_key(|wait| (wait.opened_at, wait.id));
        waits
    }

    fn remember(&mut self, id: WaitId, session: &SessionId) {
        if self.settled.len() >= SETTLED_MAX {
            self.settled.pop_front();
        }
        self.settled.push_back((id, session.clone()));
    }
}

/// A subscription to the open waits of all sessions.
pub struct WaitSubscription {
    open_waits: Arc<OpenWaits>,
    snapshot: Option<Bytes>,
    /// `None` after the end.
    reader: Option<RingReader>,
}

impl WaitSubscription {
    /// The next events, each a [`WaitEvent`] as JSON; `None` after the end. The first is a snapshot.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Vec<Bytes>>> {
        loop {
            if let Some(snapshot) = self.snapshot.take() {
                return Poll::Ready(Some(vec![snapshot]));
            }
            let Some(reader) = &mut self.reader else { return Poll::Ready(None) };
            match ready!(reader.poll_next(cx)) {
                None => self.reader = None,
                Some(JournalItem::Frames(chunk)) => {
                    return Poll::Ready(Some(chunk.frames().map(|(_, frame)| frame).collect()));
                }
                // The subscriber was too slow; a new snapshot replaces the changes that it missed.
                Some(JournalItem::Gap(_)) => *self = self.open_waits.subscribe(),
            }
        }
    }
}

/// A wait of a deleted session.
fn withdrawn(wait: Wait) -> Wait {
    let settled = WaitSettlement {
        outcome: withdrawn_outcome(&wait.request),
        author: None,
        settled_at: Timestamp::now(),
    };
    Wait { settlement: Some(settled), ..wait }
}

fn json(event: &WaitEvent) -> Bytes {
    // Serialisation of a wire type cannot fail.
    serde_json::to_vec(event).unwrap_or_default().into()
}
