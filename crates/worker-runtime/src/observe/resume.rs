//! The position from which an observation resumes.

use journal::{Cursor, durable::DurableJournal};
use protocol::observation::DiagnosticKind;

use super::{StreamEnd, runtime_error, unreadable};

/// The number of events after a cursor that a resuming client may request.
const BACKLOG_EVENTS_MAX: u64 = 1024;
/// The stored size of the events after a cursor that a resuming client may request. One that missed more starts with a snapshot.
const BACKLOG_BYTES_MAX: u64 = 8 << 20;

/// The last event that a resuming client received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ResumePoint(pub(super) u64);

/// Parses a cursor and checks that the events after it are available.
pub(super) async fn resume_point(journal: &DurableJournal, cursor: &str) -> Result<ResumePoint, StreamEnd> {
    let Ok(Cursor { epoch, seq }) = cursor.parse() else {
        return Err(runtime_error(DiagnosticKind::CursorMalformed, "the cursor is malformed"));
    };
    let bounds = journal.bounds();
    if epoch != bounds.epoch || seq > bounds.newest {
        return Err(runtime_error(
            DiagnosticKind::CursorUnknown,
            "the cursor was issued for another worker or an earlier epoch",
        ));
    }
    if seq.next() < bounds.oldest || bounds.newest.get() - seq.get() > BACKLOG_EVENTS_MAX {
        return Err(expired());
    }
    // Most journals are smaller than that as a whole, which saves the query.
    if bounds.bytes > BACKLOG_BYTES_MAX {
        let missed = journal.bytes_after(seq).await.map_err(|error| unreadable(&error))?;
        if missed > BACKLOG_BYTES_MAX {
            return Err(expired());
        }
    }
    Ok(ResumePoint(seq.get()))
}

/// The end of an observation whose cursor is too old.
pub(super) fn expired() -> StreamEnd {
    runtime_error(
        DiagnosticKind::CursorExpired,
        "events after this cursor have been evicted; start again without a cursor",
    )
}
