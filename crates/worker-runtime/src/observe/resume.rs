//! Where an observation goes on.

use journal::{Cursor, durable::DurableJournal};
use protocol::observation::DiagnosticKind;

use super::{StreamEnd, trouble, unreadable};

/// How many events after a cursor are kept for whoever comes back, …
const BACKLOG_EVENTS_MAX: u64 = 1024;
/// … and how many bytes of them, as they lie in the journal. Whoever missed more begins with a snapshot.
const BACKLOG_BYTES_MAX: u64 = 8 << 20;

/// Everything up to here was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(pub(super) u64);

/// The place that a cursor stands for, or what is wrong with it.
pub(super) async fn place(journal: &DurableJournal, cursor: &str) -> Result<Place, StreamEnd> {
    let Ok(Cursor { epoch, seq }) = cursor.parse() else {
        return Err(trouble(DiagnosticKind::CursorMalformed, "the cursor is malformed"));
    };
    let bounds = journal.bounds();
    if epoch != bounds.epoch || seq > bounds.newest {
        return Err(trouble(
            DiagnosticKind::CursorUnknown,
            "the cursor was issued for another worker or an earlier epoch",
        ));
    }
    if seq.next() < bounds.oldest || bounds.newest.get() - seq.get() > BACKLOG_EVENTS_MAX {
        return Err(expired());
    }
    // Most journals are smaller than that as a whole.
    if bounds.bytes > BACKLOG_BYTES_MAX {
        let missed = journal.bytes_after(seq).await.map_err(|error| unreadable(&error))?;
        if missed > BACKLOG_BYTES_MAX {
            return Err(expired());
        }
    }
    Ok(Place(seq.get()))
}

/// How an observation ends whose cursor is too old.
pub(super) fn expired() -> StreamEnd {
    trouble(
        DiagnosticKind::CursorExpired,
        "events after this cursor have been evicted; start again without a cursor",
    )
}
