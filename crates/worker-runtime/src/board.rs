//! What waits in all sessions, and what becomes of it.

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

use crate::waits::withdrawn;

/// How much of what became of waits is kept for those who follow; who falls behind by more begins anew.
const RETENTION: Retention =
    Retention { events: NonZeroU64::new(1024).unwrap(), bytes: NonZeroU64::new(4 << 20).unwrap() };

/// Of how many waits that were settled it is remembered which session they were of.
const SETTLED_MAX: usize = 1024;

/// What waits in all sessions, as their workers show it.
pub(crate) struct Board {
    now: Mutex<Now>,
    ring: RingJournal,
}

struct Now {
    /// Those that are open, by session; none without one.
    open: HashMap<SessionId, Vec<Wait>>,
    /// Those that were settled last, the oldest first.
    settled: VecDeque<(WaitId, SessionId)>,
    writer: RingWriter,
}

impl Board {
    pub(crate) fn new() -> Self {
        let (writer, ring) = RingJournal::new(RETENTION);
        Self { now: Mutex::new(Now { open: HashMap::new(), settled: VecDeque::new(), writer }), ring }
    }

    /// Shows what is open in a session now, and tells what has changed. `settled` knows those that no longer are.
    pub(crate) fn show(
        &self,
        session: &SessionId,
        open: Vec<Wait>,
        settled: impl Fn(WaitId) -> Option<Wait>,
    ) {
        let mut now = self.now.lock();
        let before = now.open.remove(session).unwrap_or_default();
        let is_in = |waits: &[Wait], wait: &Wait| waits.iter().any(|other| other.id == wait.id);
        let mut events = Vec::new();
        for wait in before.iter().filter(|wait| !is_in(&open, wait)) {
            let wait = settled(wait.id).unwrap_or_else(|| gone(wait.clone()));
            now.remember(wait.id, session);
            events.push(WaitEvent::Settled { wait: wait.into() });
        }
        let new = open.iter().filter(|wait| !is_in(&before, wait));
        events.extend(new.map(|wait| WaitEvent::Opened { wait: wait.clone().into() }));
        if !open.is_empty() {
            now.open.insert(session.clone(), open);
        }
        now.writer.append(FrameBuffer::from_iter(events.iter().map(json)));
    }

    /// The session is no longer there.
    pub(crate) fn forget(&self, session: &SessionId) {
        self.show(session, Vec::new(), |_| None);
    }

    /// Every wait that is open, the oldest first.
    pub(crate) fn open(&self) -> Vec<Wait> {
        self.now.lock().open()
    }

    /// The session that a wait is of, or was not long ago.
    pub(crate) fn session_of(&self, id: WaitId) -> Option<SessionId> {
        let now = self.now.lock();
        let open = now.open.iter().find(|(_, waits)| waits.iter().any(|wait| wait.id == id));
        let settled = || now.settled.iter().find(|(settled, _)| *settled == id);
        open.map(|(session, _)| session).or_else(|| settled().map(|(_, session)| session)).cloned()
    }

    /// Follows what becomes of the waits, from what is open now on.
    pub(crate) fn follow(self: &Arc<Self>) -> Waiting {
        let now = self.now.lock();
        // Under the lock: nothing is told meanwhile.
        let (waits, reader) = (now.open(), self.ring.reader(StartPosition::Newest));
        drop(now);
        Waiting {
            board: Arc::clone(self),
            first: Some(json(&WaitEvent::Snapshot { waits })),
            reader: reader.ok(),
        }
    }

    /// Nothing more becomes of them: those who follow read what there is.
    pub(crate) fn seal(&self) {
        self.now.lock().writer.seal();
    }
}

impl Now {
    fn open(&self) -> Vec<Wait> {
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

/// Somebody who follows what becomes of the waits.
pub struct Waiting {
    board: Arc<Board>,
    first: Option<Bytes>,
    /// Nothing once it is over.
    reader: Option<RingReader>,
}

impl Waiting {
    /// The next events, each a [`WaitEvent`] as JSON; nothing when there are none any more. The first is what is open.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Vec<Bytes>>> {
        loop {
            if let Some(first) = self.first.take() {
                return Poll::Ready(Some(vec![first]));
            }
            let Some(reader) = &mut self.reader else { return Poll::Ready(None) };
            match ready!(reader.poll_next(cx)) {
                None => self.reader = None,
                Some(JournalItem::Frames(chunk)) => {
                    return Poll::Ready(Some(chunk.frames().map(|(_, frame)| frame).collect()));
                }
                // They did not read fast enough: what is open now says it all.
                Some(JournalItem::Gap(_)) => *self = self.board.follow(),
            }
        }
    }
}

/// A wait of a session that is no longer there.
fn gone(wait: Wait) -> Wait {
    let settled =
        WaitSettlement { outcome: withdrawn(&wait.request), author: None, settled_at: Timestamp::now() };
    Wait { settlement: Some(settled), ..wait }
}

fn json(event: &WaitEvent) -> Bytes {
    // A wire type always can be serialised.
    serde_json::to_vec(event).unwrap_or_default().into()
}
