//! Somebody who watches a worker through the hub.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use hub_access::AccessWatch;
use journal::{JournalItem, Seq};
use protocol::observation::{
    DiagnosticKind, ResumeOutcome, StreamCloseCode, StreamControl, StreamDiagnostic, StreamEnd, StreamLeg,
};
use serde_json::json;
use server::observation::ObservationSource;
use tokio::sync::watch;

use crate::{
    feed::{self, Beginning, Phase, SubscribedFeed, Ticket},
    policy::{CurrentPolicy, Decision, PolicySubject, RequestedAction, Visibility},
};

/// Somebody who watches a worker.
pub struct Watch {
    feed: SubscribedFeed,
    cursor: Option<String>,
    phase: watch::Receiver<Phase>,
    /// What was told to be wrong while it waits to begin.
    told: Option<StreamDiagnostic>,
    reading: Option<Reading>,
    /// Who watches, if it must be asked what they may see.
    eye: Option<AccessWatch>,
    /// When that may have changed.
    changes: BoxStream<'static, ()>,
    /// It must be asked before anything is shown.
    must_ask: bool,
    sight: Visibility,
    /// What they see has changed: they are to be told once more what the worker has come to.
    owes_snapshot: bool,
}

/// What comes after the beginning.
struct Reading {
    reader: journal::RingReader,
    covered: Seq,
    /// It was told that everything from here on has just happened.
    live: bool,
    /// The last event that was sent.
    last: Option<Bytes>,
    /// It is seen through a lens.
    ticket: Option<Arc<Ticket>>,
}

impl Watch {
    pub(crate) fn new(feed: SubscribedFeed, cursor: Option<String>) -> Self {
        let phase = feed.phase();
        Self {
            feed,
            cursor,
            phase,
            told: None,
            reading: None,
            eye: None,
            changes: stream::pending().boxed(),
            must_ask: false,
            sight: Visibility::Full,
            owes_snapshot: false,
        }
    }

    /// Shows only what somebody may see, and stops when that is nothing any more.
    #[must_use]
    pub fn seen_by(self, who: PolicySubject, policies: &CurrentPolicy) -> Self {
        self.seen_with(AccessWatch::new(who, None, policies))
    }

    /// The same, for somebody whose role may change.
    pub(crate) fn seen_with(self, eye: AccessWatch) -> Self {
        Self { changes: eye.changes(), eye: Some(eye), must_ask: true, ..self }
    }

    /// Waits until it is known whether there is such a worker, as far as its runtime can be asked.
    pub async fn is_there(&mut self) -> bool {
        match self.phase.wait_for(|phase| *phase != Phase::New).await {
            Ok(phase) => !matches!(*phase, Phase::Gone(_)),
            Err(_) => false,
        }
    }

    /// The next frames, waiting for them. Cancel safe.
    ///
    /// # Errors
    /// When there are none any more: how it ends.
    pub async fn next(&mut self) -> Result<Vec<Bytes>, StreamEnd> {
        let frames = self.frames().await?;
        self.feed.metrics.shown(frames.iter());
        Ok(frames)
    }

    async fn frames(&mut self) -> Result<Vec<Bytes>, StreamEnd> {
        loop {
            self.ask()?;
            if let Some(snapshot) = self.seen_anew() {
                return Ok(vec![snapshot]);
            }
            let Some(reading) = &mut self.reading else {
                let frames = self.begin()?;
                if !frames.is_empty() {
                    return Ok(frames);
                }
                tokio::select! {
                    _ = self.phase.changed() => {}
                    _ = self.changes.next() => self.must_ask = true,
                }
                continue;
            };
            if reading.goes_live() {
                return Ok(vec![feed::control(StreamControl::Live)]);
            }
            let item = tokio::select! {
                biased;
                item = reading.reader.next() => item,
                _ = self.changes.next() => {
                    self.must_ask = true;
                    continue;
                }
            };
            // What they may see is decided when it is told, and not when they began to wait for it.
            self.ask()?;
            let frames = self.shown(item)?;
            if !frames.is_empty() {
                return Ok(frames);
            }
        }
    }

    /// Asks what they may see, if that has changed.
    fn ask(&mut self) -> Result<(), StreamEnd> {
        let Some(eye) = &mut self.eye else { return Ok(()) };
        if !self.must_ask && !eye.has_changed() {
            return Ok(());
        }
        self.must_ask = false;
        let denied = |reason: String| StreamEnd::new(StreamLeg::Backend, DiagnosticKind::Denied, reason);
        let (who, policy) =
            eye.now().ok_or_else(|| denied("your access to this worker was revoked".into()))?;
        let (runtime, worker) = (&self.feed.runtime, &self.feed.worker);
        if let Decision::Denied(reason) = policy.may(&who, &RequestedAction::Watch { runtime, worker }) {
            return Err(denied(reason));
        }
        let sight = policy.visibility(&who, runtime);
        let is_same = match (&self.sight, &sight) {
            (Visibility::Full, Visibility::Full) => true,
            (Visibility::Redacted(old), Visibility::Redacted(new)) => Arc::ptr_eq(old, new),
            _ => false,
        };
        if let Some(reading) = self.reading.as_mut().filter(|_| !is_same) {
            reading.ticket = match &sight {
                Visibility::Full => None,
                Visibility::Redacted(lens) => Some(self.feed.look(lens).ok_or_else(unobservable)?),
            };
            self.owes_snapshot = true;
        }
        self.sight = sight;
        Ok(())
    }

    /// What the worker has come to, as it is seen now, if that is owed and everything before was told.
    fn seen_anew(&mut self) -> Option<Bytes> {
        let reading = self.reading.as_mut().filter(|reading| self.owes_snapshot && reading.live)?;
        let (snapshot, ticket) = self.feed.seen_anew(reading.reader.cursor().seq, &self.sight)?;
        reading.ticket = ticket;
        self.owes_snapshot = false;
        Some(snapshot)
    }

    /// What goes first, once what the worker has come to is known; what goes wrong meanwhile is told.
    fn begin(&mut self) -> Result<Vec<Bytes>, StreamEnd> {
        match &*self.phase.borrow_and_update() {
            Phase::Away(diagnostic) if self.told.as_ref() != Some(diagnostic) => {
                self.told = Some(diagnostic.clone());
                Ok(vec![feed::diagnostic(diagnostic)])
            }
            Phase::New | Phase::Away(_) => Ok(Vec::new()),
            Phase::Gone(diagnostic) => Err(StreamEnd::with_diagnostic(diagnostic.clone())),
            Phase::Known => {
                let Beginning { snapshot, reader, covered, ticket } =
                    self.feed.begin(self.cursor.as_deref(), &self.sight).map_err(unusable)?;
                self.reading = Some(Reading { reader, covered, live: false, last: None, ticket });
                let resumed =
                    self.cursor.as_ref().map(|_| StreamControl::Resumed { resume: ResumeOutcome::Ok });
                Ok([snapshot].into_iter().chain(resumed.map(feed::control)).collect())
            }
        }
    }

    /// What was read, as they see it.
    fn shown(&mut self, item: Option<JournalItem>) -> Result<Vec<Bytes>, StreamEnd> {
        let Some((reading, item)) = self.reading.as_mut().zip(item) else { return Err(self.over()) };
        let lagged = |reading: &Reading| {
            self.feed.metrics.lagged.inc();
            reading.lagged()
        };
        let JournalItem::Frames(chunk) = item else { return Err(lagged(reading)) };
        match &reading.ticket {
            None => Ok(reading.tell(chunk.frames())),
            Some(ticket) => {
                let frames = self.feed.through(ticket, &chunk).ok_or_else(|| lagged(reading))?;
                Ok(reading.tell(frames.into_iter()))
            }
        }
    }

    fn over(&self) -> StreamEnd {
        match &*self.phase.borrow() {
            Phase::Gone(diagnostic) => StreamEnd::with_diagnostic(diagnostic.clone()),
            _ => StreamEnd::without_diagnostic(StreamCloseCode::AWAY),
        }
    }
}

impl Reading {
    /// Whether everything from here on has just happened, which is to be told once.
    fn goes_live(&mut self) -> bool {
        let goes_live = !self.live && self.reader.cursor().seq >= self.covered;
        self.live |= goes_live;
        goes_live
    }

    /// What was read, as it is told: an empty frame is not.
    fn tell(&mut self, frames: impl Iterator<Item = (Seq, Bytes)>) -> Vec<Bytes> {
        let mut told = Vec::with_capacity(frames.size_hint().0);
        for (seq, frame) in frames {
            let (is_event, is_covered) = (feed::is_event(&frame), seq <= self.covered);
            if is_event {
                self.last = Some(frame.clone());
            }
            match (is_event, is_covered) {
                (_, false) if frame.is_empty() => {}
                (_, false) => told.push(frame),
                (true, true) => told.push(feed::replayed(&frame)),
                // What was wrong with the stream then is nothing to them now.
                (false, true) => {}
            }
        }
        told
    }

    /// It did not read fast enough: it may come again with the last that it got.
    fn lagged(&self) -> StreamEnd {
        let mut end = StreamEnd::new(
            StreamLeg::Backend,
            DiagnosticKind::Lagged,
            "the viewer was too slow and missed events",
        );
        if let (Some(diagnostic), Some(cursor)) =
            (&mut end.diagnostic, self.last.as_deref().and_then(feed::cursor))
        {
            diagnostic.details = Some(json!({ "cursor": cursor }));
        }
        end
    }
}

fn unobservable() -> StreamEnd {
    StreamEnd::new(StreamLeg::Backend, DiagnosticKind::WorkerUnavailable, "the worker's state is unknown")
}

fn unusable(trouble: DiagnosticKind) -> StreamEnd {
    let message = match trouble {
        DiagnosticKind::CursorMalformed => "the cursor is malformed",
        DiagnosticKind::CursorUnknown => "the cursor was issued for another worker or an earlier epoch",
        _ => "events after this cursor have been evicted; start again without a cursor",
    };
    StreamEnd::new(StreamLeg::Backend, trouble, message)
}

impl ObservationSource for Watch {
    const LEG: StreamLeg = StreamLeg::Backend;

    async fn next(&mut self) -> Result<Vec<Bytes>, StreamEnd> {
        Watch::next(self).await
    }
}
