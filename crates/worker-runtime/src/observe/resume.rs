//! Where an observation goes on.

use journal::{Cursor, durable::Durable};
use protocol::observation::Trouble;

/// How many events after a cursor are kept for whoever comes back. Whoever missed more begins with a snapshot.
const BACKLOG_EVENTS_MAX: u64 = 1024;

/// How it is told that a cursor has expired.
pub(super) const EXPIRED: &str = "what came after the cursor is no longer kept";

/// Everything up to here was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(pub(super) u64);

/// The place that a cursor stands for, or what is wrong with it.
pub(super) fn place(journal: &Durable, cursor: &str) -> Result<Place, (Trouble, &'static str)> {
    let cursor: Cursor = cursor.parse().map_err(|_| (Trouble::CursorMalformed, "this is no cursor"))?;
    let (bounds, seq) = (journal.bounds(), cursor.seq);
    if cursor.epoch != bounds.epoch || seq > bounds.newest {
        return Err((Trouble::CursorUnknown, "this cursor was not issued for this worker"));
    }
    let expired = seq.next() < bounds.oldest || bounds.newest.get() - seq.get() > BACKLOG_EVENTS_MAX;
    match expired {
        true => Err((Trouble::CursorExpired, EXPIRED)),
        false => Ok(Place(seq.get())),
    }
}
