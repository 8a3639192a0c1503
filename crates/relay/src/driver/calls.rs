//! The requests of this side.

use std::collections::HashMap;

use protocol::relay::{RelayError, Response, StreamFrame};
use tokio::{
    sync::mpsc::{Sender, error::TrySendError},
    time::Instant,
};

use crate::{
    Lost,
    call::Heard,
    flow,
    held::{Gauge, Weight},
    peer::{self, Shared},
};

/// The requests of this side that have no outcome yet.
pub(super) struct Calls {
    pending: HashMap<u64, Pending>,
    window: u64,
    calls: Gauge,
    unread: Gauge,
}

struct Pending {
    /// The way to the caller; `None` if the call was given up.
    parts: Option<Sender<Heard>>,
    /// When it times out.
    deadline: Instant,
    /// Whether its result may arrive as a binary message.
    has_bytes: bool,
    /// Whether the peer was sent a cancellation.
    is_cancelled: bool,
    /// The number of chunks received.
    seq: u64,
    /// The remaining credit of the peer.
    left: u64,
    _weight: Weight,
}

/// The result of handling a chunk of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Streamed {
    /// It was passed on, or nothing waits for it.
    Taken,
    /// The window is exceeded by a peer that does not support credit.
    Overrun(u64),
}

impl Calls {
    pub(super) fn new(shared: &Shared) -> Self {
        Self {
            pending: HashMap::new(),
            window: shared.limits.window_bytes.into(),
            calls: shared.gauges.calls.clone(),
            unread: shared.gauges.unread.clone(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.pending.len()
    }

    pub(super) fn id(key: u64) -> String {
        format!("req_{key}")
    }

    pub(super) fn insert(&mut self, key: u64, parts: Sender<Heard>, deadline: Instant, has_bytes: bool) {
        let pending = Pending {
            parts: Some(parts),
            deadline,
            has_bytes,
            is_cancelled: false,
            seq: 0,
            left: self.window,
            _weight: self.calls.add(1),
        };
        self.pending.insert(key, pending);
    }

    /// Passes a chunk of a stream to the caller.
    pub(super) fn stream(
        &mut self,
        frame: StreamFrame,
        bytes: usize,
        credit: bool,
    ) -> Result<Streamed, Lost> {
        let key = known(&frame.id)?;
        let pending = self.pending.get_mut(&key).ok_or_else(unknown)?;
        let Some(parts) = &pending.parts else { return Ok(Streamed::Taken) };
        if frame.seq.is_some_and(|seq| seq != pending.seq) {
            return Err(Lost::policy("stream chunks are out of order"));
        }
        let charge = flow::charge(bytes, self.window);
        match pending.left.checked_sub(charge) {
            Some(left) => pending.left = left,
            None if credit => return Err(Lost::policy("a stream chunk was sent without credit")),
            None => return Ok(Streamed::Overrun(key)),
        }
        pending.seq += 1;
        match parts.try_send(Heard::Stream { frame, charge, _weight: self.unread.add(bytes) }) {
            // A caller that has dropped the call has sent a signal, which is handled soon.
            Ok(()) | Err(TrySendError::Closed(_)) => Ok(Streamed::Taken),
            Err(TrySendError::Full(_)) => Err(Lost::policy("a stream has too many unread chunks")),
        }
    }

    /// Passes the outcome to the caller, and returns the deadline of the call.
    pub(super) fn answer(&mut self, Response { id, outcome }: Response) -> Result<(u64, Instant), Lost> {
        let key = known(&id)?;
        let pending = self.pending.remove(&key).ok_or_else(unknown)?;
        if !pending.has_bytes && outcome.as_ref().is_ok_and(|result| !result.bytes().is_empty()) {
            return Err(Lost::policy("a binary message belongs to no binary stream"));
        }
        if let Some(parts) = pending.parts {
            // The caller may have stopped waiting.
            let _ = parts.try_send(Heard::Outcome(outcome));
        }
        Ok((key, pending.deadline))
    }

    /// Ends a call for its caller, with an outcome if it still waits.
    pub(super) fn give_up(&mut self, key: u64, outcome: Option<RelayError>) {
        let parts = self.pending.get_mut(&key).and_then(|pending| pending.parts.take());
        if let (Some(parts), Some(outcome)) = (parts, outcome) {
            let _ = parts.try_send(Heard::Outcome(Err(outcome)));
        }
    }

    /// Marks a call as cancelled, with a new deadline. Returns the old one, the first time.
    pub(super) fn cancel(&mut self, key: u64, until: Instant) -> Option<Instant> {
        let pending = self.pending.get_mut(&key).filter(|pending| !pending.is_cancelled)?;
        pending.is_cancelled = true;
        Some(std::mem::replace(&mut pending.deadline, until))
    }

    pub(super) fn is_cancelled(&self, key: u64) -> bool {
        self.pending.get(&key).is_some_and(|pending| pending.is_cancelled)
    }

    /// Removes a call whose request was not sent.
    pub(super) fn take_back(&mut self, key: u64) {
        self.give_up(key, Some(peer::cancelled()));
        self.pending.remove(&key);
    }

    /// Adds credit for bytes that were read; returns whether the peer may use it.
    pub(super) fn read(&mut self, key: u64, bytes: u64) -> bool {
        let Some(pending) = self.pending.get_mut(&key) else { return false };
        pending.left += bytes;
        pending.parts.is_some()
    }

    /// Ends all calls without an outcome, which callers see as a lost connection.
    pub(super) fn end(&mut self) {
        self.pending.clear();
    }
}

/// The key in an id, if this side can have issued the id.
fn known(id: &str) -> Result<u64, Lost> {
    let key: Option<u64> = id.strip_prefix("req_").and_then(|key| key.parse().ok());
    key.filter(|key| Calls::id(*key) == id).ok_or_else(unknown)
}

fn unknown() -> Lost {
    Lost::policy("a frame belongs to no open request")
}
