//! Somebody who watches a worker through the hub.

use std::collections::VecDeque;

use bytes::Bytes;
use journal::{Item, Seq};
use protocol::observation::{CloseCode, Control, Diagnostic, End, Leg, Resume, Trouble};
use serde_json::json;
use server::observed::Observed;
use tokio::sync::watch;

use crate::feed::{self, Attended, Beginning, Phase};

/// Somebody who watches a worker.
pub struct Watch {
    feed: Attended,
    cursor: Option<String>,
    phase: watch::Receiver<Phase>,
    /// What was told to be wrong while it waits to begin.
    told: Option<Diagnostic>,
    /// What goes first.
    ready: VecDeque<Bytes>,
    reading: Option<Reading>,
}

/// What comes after the beginning.
struct Reading {
    reader: journal::Reader,
    covered: Seq,
    /// It was told that everything from here on has just happened.
    live: bool,
    /// The last event that was sent.
    last: Option<Bytes>,
}

impl Watch {
    pub(crate) fn new(feed: Attended, cursor: Option<String>) -> Self {
        let phase = feed.phase();
        Self { feed, cursor, phase, told: None, ready: VecDeque::new(), reading: None }
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
    pub async fn next(&mut self) -> Result<Vec<Bytes>, End> {
        loop {
            if !self.ready.is_empty() {
                self.feed.metrics.shown(self.ready.iter());
                return Ok(self.ready.drain(..).collect());
            }
            match &mut self.reading {
                Some(reading) => {
                    let lagged = |_: &End| _ = self.feed.metrics.lagged.inc();
                    let frames = reading.next().await.inspect_err(lagged)?;
                    let Some(frames) = frames else { return Err(self.over()) };
                    self.ready.extend(frames);
                }
                None => self.begin().await?,
            }
        }
    }

    /// Waits until what the worker has come to is known; what goes wrong meanwhile is told.
    async fn begin(&mut self) -> Result<(), End> {
        match &*self.phase.borrow_and_update() {
            Phase::Away(diagnostic) if self.told.as_ref() != Some(diagnostic) => {
                self.ready.push_back(feed::diagnostic(diagnostic));
                self.told = Some(diagnostic.clone());
            }
            Phase::New | Phase::Away(_) => {}
            Phase::Gone(diagnostic) => return Err(End::because(diagnostic.clone())),
            Phase::Known => {
                let Beginning { snapshot, reader, covered } =
                    self.feed.begin(self.cursor.as_deref()).map_err(unusable)?;
                self.ready.push_back(snapshot);
                if self.cursor.is_some() {
                    self.ready.push_back(feed::control(Control::Resumed { resume: Resume::Ok }));
                }
                self.reading = Some(Reading { reader, covered, live: false, last: None });
            }
        }
        if self.ready.is_empty() {
            let _ = self.phase.changed().await;
        }
        Ok(())
    }

    fn over(&self) -> End {
        match &*self.phase.borrow() {
            Phase::Gone(diagnostic) => End::because(diagnostic.clone()),
            _ => End::silently(CloseCode::AWAY),
        }
    }
}

impl Reading {
    /// The next frames, all at once; nothing when there are none any more. Cancel safe.
    async fn next(&mut self) -> Result<Option<Vec<Bytes>>, End> {
        if !self.live && self.reader.cursor().seq >= self.covered {
            self.live = true;
            return Ok(Some(vec![feed::control(Control::Live)]));
        }
        match self.reader.next().await {
            None => Ok(None),
            Some(Item::Gap(_)) => Err(self.lagged()),
            Some(Item::Frames(chunk)) => {
                let mut frames = Vec::with_capacity(chunk.len());
                for (seq, frame) in chunk.frames() {
                    let (is_event, is_covered) = (feed::is_event(&frame), seq <= self.covered);
                    if is_event {
                        self.last = Some(frame.clone());
                    }
                    match (is_event, is_covered) {
                        (_, false) => frames.push(frame),
                        (true, true) => frames.push(feed::replayed(&frame)),
                        // What was wrong with the stream then is nothing to them now.
                        (false, true) => {}
                    }
                }
                Ok(Some(frames))
            }
        }
    }

    /// It did not read fast enough: it may come again with the last that it got.
    fn lagged(&self) -> End {
        let mut end = End::with(Leg::Backend, Trouble::Lagged, "too much happened that was not read");
        if let (Some(diagnostic), Some(cursor)) =
            (&mut end.diagnostic, self.last.as_deref().and_then(feed::cursor))
        {
            diagnostic.details = Some(json!({ "cursor": cursor }));
        }
        end
    }
}

fn unusable(trouble: Trouble) -> End {
    let message = match trouble {
        Trouble::CursorMalformed => "this is no cursor",
        Trouble::CursorUnknown => "this cursor was not issued for this worker",
        _ => "what came after the cursor is no longer kept",
    };
    End::with(Leg::Backend, trouble, message)
}

impl Observed for Watch {
    const LEG: Leg = Leg::Backend;

    async fn next(&mut self) -> Result<Vec<Bytes>, End> {
        Watch::next(self).await
    }
}
