//! A worker as others watch it: what it has come to, and everything that happens after that.
//!
//! Frames are text that is ready to be sent. What lies in the journal is not taken apart for them: an event is cut out of
//! its record as it stands there.

mod frames;
mod resume;

use std::{collections::VecDeque, mem};

use bytes::Bytes;
use journal::{Item, Seq, durable};
use protocol::{
    SessionId,
    observation::{CloseCode, Control, Diagnostic, Leg, Resume, Trouble},
};
use tracing::warn;

use crate::{Error, Readers, Sessions, error::chain};
use frames::Frames;
use resume::Place;

/// How many events are sent at once, so that whoever reads slowly holds no more.
const BATCH_MAX: usize = 256;

/// What watches one worker.
pub struct Observation {
    frames: Frames,
    reader: Option<Readers>,
    /// Events up to here are in the snapshot.
    covered: u64,
    /// What goes first.
    ready: VecDeque<Bytes>,
    /// It is told once that everything from here on has just happened.
    live: bool,
    /// The worker has said that it is over; otherwise it is the daemon that ends.
    over: bool,
    end: Option<End>,
}

/// How an observation ends.
#[derive(Debug, Clone, PartialEq)]
pub struct End {
    /// What is wrong, if something is.
    pub diagnostic: Option<Diagnostic>,
    /// How the connection is to be closed.
    pub code: CloseCode,
}

impl End {
    /// With this trouble of the runtime.
    pub fn with(trouble: Trouble, message: &str) -> Self {
        let code = trouble.close().unwrap_or(CloseCode::INTERNAL);
        Self { diagnostic: Some(Diagnostic::new(Leg::Runtime, trouble, message)), code }
    }
}

impl Sessions {
    /// Watches a worker: its snapshot first, then what happens; with a cursor also what happened since, if that is kept.
    ///
    /// # Errors
    /// If there is no such worker, or it cannot be read. What is wrong with the cursor is how the observation ends.
    pub async fn observe(&self, id: &SessionId, cursor: Option<&str>) -> Result<Observation, Error> {
        let journal = self.journal(id).await?;
        let place = match cursor.map(|cursor| resume::place(&journal, cursor)).transpose() {
            Ok(place) => place,
            Err((trouble, message)) => return Ok(Observation::refused(id, trouble, message)),
        };
        // First what it covers, then what comes after exactly that: nothing falls in between.
        let snapshot = self.snapshot(id).await?;
        let (covered, frames) =
            (snapshot.seq, Frames::new(id.clone(), journal.cursor(Seq::new(snapshot.seq)).epoch));
        let from = match place {
            Some(Place(seq)) => seq.min(covered),
            None => covered,
        };
        let reader = self.reader(id, from).await?;
        let mut ready = VecDeque::from([frames.snapshot(snapshot)]);
        if place.is_some() {
            ready.push_back(frames::control(Control::Resumed { resume: Resume::Ok }));
        }
        Ok(Observation { frames, reader: Some(reader), covered, ready, live: false, over: false, end: None })
    }
}

impl Observation {
    fn refused(id: &SessionId, trouble: Trouble, message: &str) -> Self {
        // Nothing is rendered for it.
        let frames = Frames::new(id.clone(), journal::Epoch::random());
        let end = Some(End::with(trouble, message));
        Self { frames, reader: None, covered: 0, ready: VecDeque::new(), live: true, over: false, end }
    }

    /// The next frames, waiting for them. Cancel safe.
    ///
    /// # Errors
    /// When there are none any more: how it ends.
    pub async fn next(&mut self) -> Result<Vec<Bytes>, End> {
        loop {
            if !self.ready.is_empty() {
                let batch = self.ready.len().min(BATCH_MAX);
                return Ok(self.ready.drain(..batch).collect());
            }
            if let Some(end) = self.end.take() {
                return Err(end);
            }
            let Some(reader) = &mut self.reader else { return Err(self.ended()) };
            // Whatever was missed is sent: the next event is one that has just happened.
            if !self.live && reader.cursor().seq.get() >= self.covered {
                self.live = true;
                return Ok(vec![frames::control(Control::Live)]);
            }
            match reader.next().await {
                Ok(Some(Item::Frames(chunk))) => {
                    for (seq, frame) in chunk.frames() {
                        let replay = seq.get() <= self.covered;
                        self.over |= frames::is_end(&frame);
                        self.ready.push_back(self.frames.event(seq.get(), &frame, replay));
                    }
                }
                Ok(Some(Item::Gap(_))) => {
                    self.end = Some(End::with(
                        Trouble::CursorExpired,
                        "what came after the cursor is no longer kept",
                    ));
                }
                Ok(None) | Err(durable::Error::Deleted) => return Err(self.ended()),
                Err(error) => {
                    warn!(error = %chain(&error), "a worker cannot be watched");
                    return Err(End::with(
                        Trouble::WorkerUnavailable,
                        "the events of the worker cannot be read",
                    ));
                }
            }
        }
    }

    /// The frame that tells what is wrong.
    pub fn last_word(end: &mut End) -> Option<Bytes> {
        mem::take(&mut end.diagnostic).map(frames::diagnostic)
    }

    fn ended(&self) -> End {
        let code = if self.over { CloseCode::NORMAL } else { CloseCode::AWAY };
        End { diagnostic: None, code }
    }
}
