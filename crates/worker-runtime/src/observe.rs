//! A worker as others watch it: what it has come to, and everything that happens after that.
//!
//! Frames are text that is ready to be sent. What lies in the journal is not taken apart for them: an event is cut out of
//! its record as it stands there.

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

use crate::{Error, Readers, Sessions, error::chain};
use frames::Frames;
use resume::Place;

/// How many events are sent at once, so that whoever reads slowly holds no more.
const BATCH_MAX: usize = 256;

/// What watches one worker.
pub struct Observation {
    /// What goes first.
    ready: VecDeque<Bytes>,
    /// Where the rest comes from, or why nothing does.
    source: Result<Source, StreamEnd>,
}

/// The events of a worker, from one place on.
struct Source {
    frames: Frames,
    reader: Readers,
    /// Events up to here are in the snapshot.
    covered: u64,
    /// It was told that everything from here on has just happened.
    live: bool,
    /// The worker has said that it is over; otherwise it is the daemon that ends.
    over: bool,
}

/// It ends with this trouble of the runtime.
fn trouble(trouble: DiagnosticKind, message: &str) -> StreamEnd {
    StreamEnd::new(StreamLeg::Runtime, trouble, message)
}

impl Sessions {
    /// Watches a worker: its snapshot first, then what happens; with a cursor also what happened since, if that is kept.
    ///
    /// # Errors
    /// If there is no such worker, or it cannot be read. What is wrong with the cursor is how the observation ends.
    pub async fn observe(&self, id: &SessionId, cursor: Option<&str>) -> Result<Observation, Error> {
        let journal = self.journal(id).await?;
        let place = match cursor {
            Some(cursor) => match resume::place(&journal, cursor).await {
                Ok(place) => Some(place),
                Err(end) => return Ok(Observation { ready: VecDeque::new(), source: Err(end) }),
            },
            None => None,
        };
        // First what it covers, then what comes after exactly that: nothing falls in between.
        let snapshot = self.snapshot(id).await?;
        let covered = snapshot.seq;
        let frames = Frames::new(id.clone(), journal.bounds().epoch);
        let reader = self.reader(id, place.map_or(covered, |Place(seq)| seq.min(covered))).await?;
        let mut ready = VecDeque::from([frames.snapshot(snapshot)]);
        if place.is_some() {
            ready.push_back(frames::control(StreamControl::Resumed { resume: ResumeOutcome::Ok }));
        }
        Ok(Observation { ready, source: Ok(Source { frames, reader, covered, live: false, over: false }) })
    }
}

impl Observation {
    /// The next frames, waiting for them. Cancel safe.
    ///
    /// # Errors
    /// When there are none any more: how it ends.
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

impl Source {
    /// The next frames, all at once. Cancel safe.
    async fn next(&mut self) -> Result<Vec<Bytes>, StreamEnd> {
        // Whatever was missed is sent: the next event is one that has just happened.
        if !self.live && self.reader.cursor().seq.get() >= self.covered {
            self.live = true;
            return Ok(vec![frames::control(StreamControl::Live)]);
        }
        match self.reader.next().await {
            Ok(Some(JournalItem::Frames(chunk))) => {
                let frames = chunk.frames().map(|(seq, frame)| {
                    self.over |= frames::is_end(&frame);
                    self.frames.event(seq.get(), &frame, seq.get() <= self.covered)
                });
                Ok(frames.collect())
            }
            Ok(Some(JournalItem::Gap(_))) => Err(resume::expired()),
            Ok(None) | Err(durable::Error::Deleted) => {
                let code = if self.over { StreamCloseCode::NORMAL } else { StreamCloseCode::AWAY };
                Err(StreamEnd::without_diagnostic(code))
            }
            Err(error) => Err(unreadable(&error)),
        }
    }
}

/// How an observation ends whose journal cannot be read.
fn unreadable(error: &durable::Error) -> StreamEnd {
    warn!(error = %chain(error), "could not open a worker's event stream");
    trouble(DiagnosticKind::WorkerUnavailable, "the worker's events cannot be read")
}

#[cfg(test)]
mod tests;
