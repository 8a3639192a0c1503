//! What happens in a worker as a lens shows it, made once for all who look through the same lens.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use futures_util::FutureExt;
use journal::{JournalItem, RingJournal, Seq, StartPosition};
use protocol::{
    observation::{DiagnosticKind, EventEnvelope, ObservationFrame, StreamDiagnostic, StreamLeg},
    sessions::SessionSnapshot,
};

use super::frames::{diagnostic, is_event, is_relay, json};
use crate::policy::{Redactor, StreamRedactor, lost};

/// What is in the ring, as a lens shows it.
pub(super) struct Shown {
    ticket: Arc<Ticket>,
    look: Box<dyn StreamRedactor>,
    /// From here on what the ring has was looked at; …
    from: Seq,
    /// … these frames look otherwise than they are.
    others: BTreeMap<Seq, Bytes>,
    /// What the worker has come to, until something happens.
    pub(super) snapshot: Option<Bytes>,
}

/// Somebody looks through a lens.
pub(crate) struct Ticket(Arc<dyn Redactor>);

impl Shown {
    /// Looks at what is in the ring, and then at what comes; all of it has come to `now`.
    pub(super) fn new(lens: Arc<dyn Redactor>, ring: &RingJournal, now: &SessionSnapshot) -> Self {
        let look = lens.redact_stream();
        let (from, others) = (ring.bounds().oldest, BTreeMap::new());
        let mut shown = Self { ticket: Arc::new(Ticket(lens)), look, from, others, snapshot: None };
        let frames = kept(ring);
        if shown.ticket.0.hides_content() {
            let envelopes: Vec<_> = frames.iter().filter_map(|(_, frame)| envelope(frame)).collect();
            for (message, part) in lost(envelopes.iter().map(|envelope| &envelope.payload), &now.messages) {
                shown.look.lose(&message, &part);
            }
        }
        for (seq, frame) in frames {
            shown.take(seq, &frame);
        }
        shown.look.begin(now);
        shown
    }

    pub(super) fn is_through(&self, lens: &Arc<dyn Redactor>) -> bool {
        Arc::ptr_eq(&self.ticket.0, lens)
    }

    /// Whoever holds it looks.
    pub(super) fn ticket(&self) -> Arc<Ticket> {
        Arc::clone(&self.ticket)
    }

    pub(super) fn is_of(&self, ticket: &Arc<Ticket>) -> bool {
        Arc::ptr_eq(&self.ticket, ticket)
    }

    /// Whether nobody looks any more.
    pub(super) fn is_over(&self) -> bool {
        Arc::strong_count(&self.ticket) == 1
    }

    /// Looks at the next frame of the ring.
    pub(super) fn take(&mut self, seq: Seq, frame: &Bytes) {
        self.snapshot = None;
        if !self.ticket.0.may_change(frame) {
            return;
        }
        if is_relay(frame) {
            // It tells of paths and programs, as an event does.
            let shown = serde_json::from_slice(frame).ok().map(|value| self.ticket.0.value(value));
            let shown = shown.and_then(|value| serde_json::to_vec(&value).ok()).unwrap_or_default();
            self.others.insert(seq, shown.into());
            return;
        }
        if !is_event(frame) {
            return;
        }
        let Some(mut envelope) = envelope(frame) else {
            // What cannot be parsed cannot be redacted either.
            let skipped = StreamDiagnostic::new(
                StreamLeg::Backend,
                DiagnosticKind::SerializeFailed,
                "an event could not be redacted and was left out",
            );
            self.others.insert(seq, diagnostic(&skipped));
            return;
        };
        if let Some(other) = self.look.event(&envelope.payload) {
            envelope.payload = other;
            self.others.insert(seq, json(&ObservationFrame::Event { envelope }));
        }
    }

    /// Forgets what the ring no longer has.
    pub(super) fn forget_before(&mut self, oldest: Seq) {
        self.from = self.from.max(oldest);
        while self.others.first_entry().is_some_and(|first| *first.key() < oldest) {
            self.others.pop_first();
        }
    }

    /// A frame as it is shown, empty if it is not; nothing if it is no longer kept.
    pub(super) fn at(&self, seq: Seq, frame: Bytes) -> Option<Bytes> {
        (seq >= self.from).then(|| self.others.get(&seq).cloned().unwrap_or(frame))
    }

    /// What the worker has come to, as it is shown.
    pub(super) fn come_to(&self, snapshot: SessionSnapshot) -> SessionSnapshot {
        self.look.snapshot(snapshot)
    }
}

/// Everything that the ring has now.
fn kept(ring: &RingJournal) -> Vec<(Seq, Bytes)> {
    let mut frames = Vec::new();
    let Ok(mut reader) = ring.reader(StartPosition::Oldest) else { return frames };
    while let Some(Some(JournalItem::Frames(chunk))) = reader.next().now_or_never() {
        frames.extend(chunk.frames());
    }
    frames
}

fn envelope(frame: &[u8]) -> Option<Box<EventEnvelope>> {
    match serde_json::from_slice(frame).ok()? {
        ObservationFrame::Event { envelope } => Some(envelope),
        ObservationFrame::Diagnostic { .. } | ObservationFrame::Control { .. } => None,
    }
}
