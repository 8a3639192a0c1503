//! The observation of a worker: a snapshot, and every event after it.
//!
//! Frames are JSON text that is ready to be sent. Events are not parsed for them: the text of an event is cut out of its stored
//! record.

mod frames;
mod resume;

use std::collections::VecDeque;

use bytes::Bytes;
use journal::{JournalItem, durable};
use protocol::{
    SessionId,
    observation::{DiagnosticKind, ResumeOutcome, StreamCloseCode, StreamControl, StreamEnd, StreamLeg},
};
use tracing::warn;

use crate::{Error, EventReader, Sessions, error::chain};
use frames::FrameRenderer;
use resume::ResumePoint;

/// The number of events that are sent at once. It bounds the memory that a slow reader holds.
const BATCH_MAX: usize = 256;

/// The observation of one worker.
pub struct Observation {
    /// Frames to send before those of the source.
    ready: VecDeque<Bytes>,
    /// The source of further frames, or the reason why the observation ends.
    source: Result<ObservedEvents, StreamEnd>,
}

/// The events of a worker from one position on.
struct ObservedEvents {
    frames: FrameRenderer,
    reader: EventReader,
    /// The snapshot includes the events up to this one.
    covered: u64,
    /// Whether the client knows that all further events are new.
    is_live: bool,
    /// Whether the worker has ended, so that the end of its events is not that of the daemon.
    has_ended: bool,
}

/// The end of an observation because of an error of the runtime.
fn runtime_error(kind: DiagnosticKind, message: &str) -> StreamEnd {
    StreamEnd::new(StreamLeg::Runtime, kind, message)
}

impl Sessions {
    /// Observes a worker: a snapshot first, then the events after it. With a cursor, the events since then are repeated if they
    /// are still available.
    ///
    /// # Errors
    /// If the worker does not exist or cannot be read. An unusable cursor is not an error here: the observation ends with it.
    pub async fn observe(&self, id: &SessionId, cursor: Option<&str>) -> Result<Observation, Error> {
        let journal = self.journal(id).await?;
        let resumed = match cursor {
            Some(cursor) => match resume::resume_point(&journal, cursor).await {
                Ok(point) => Some(point),
                Err(end) => return Ok(Observation { ready: VecDeque::new(), source: Err(end) }),
            },
            None => None,
        };
        // The reader starts exactly after the events in the snapshot, so no event is lost in between.
        let snapshot = self.snapshot(id).await?;
        let covered = snapshot.seq;
        let frames = FrameRenderer::new(id.clone(), journal.bounds().epoch);
        let reader = self.reader(id, resumed.map_or(covered, |ResumePoint(seq)| seq.min(covered))).await?;
        let mut ready = VecDeque::from([frames.snapshot(snapshot)]);
        if resumed.is_some() {
            ready.push_back(frames::control(StreamControl::Resumed { resume: ResumeOutcome::Ok }));
        }
        let source = ObservedEvents { frames, reader, covered, is_live: false, has_ended: false };
        Ok(Observation { ready, source: Ok(source) })
    }
}

impl Observation {
    /// Waits for the next frames. Cancel safe.
    ///
    /// # Errors
    /// The end of the observation.
    pub async fn next(&mut self) -> Result<Vec<Bytes>, StreamEnd> {
        let source = match &mut self.source {
            Ok(source) => source,
            Err(end) => return Err(end.clone()),
        };
        if self.ready.is_empty() {
            self.ready.extend(source.next().await?);
        }
        let batch = self.ready.len().min(BATCH_MAX);
        Ok(self.ready.drain(..batch).collect())
    }
}

impl ObservedEvents {
    /// Waits for the next frames. Cancel safe.
    async fn next(&mut self) -> Result<Vec<Bytes>, StreamEnd> {
        // All missed events are sent, so the next one is new.
        if !self.is_live && self.reader.cursor().seq.get() >= self.covered {
            self.is_live = true;
            return Ok(vec![frames::control(StreamControl::Live)]);
        }
        match self.reader.next().await {
            Ok(Some(JournalItem::Frames(chunk))) => {
                let frames = chunk.frames().map(|(seq, frame)| {
                    self.has_ended |= frames::is_end(&frame);
                    self.frames.event(seq.get(), &frame, seq.get() <= self.covered)
                });
                Ok(frames.collect())
            }
            Ok(Some(JournalItem::Gap(_))) => Err(resume::expired()),
            Ok(None) | Err(durable::Error::Deleted) => {
                let code = if self.has_ended { StreamCloseCode::NORMAL } else { StreamCloseCode::AWAY };
                Err(StreamEnd::without_diagnostic(code))
            }
            Err(error) => Err(unreadable(&error)),
        }
    }
}

/// The end of an observation whose journal cannot be read.
fn unreadable(error: &durable::Error) -> StreamEnd {
    warn!(error = %chain(error), "could not open a worker's event stream");
    runtime_error(DiagnosticKind::WorkerUnavailable, "the worker's events cannot be read")
}

#[cfg(test)]
mod tests;
