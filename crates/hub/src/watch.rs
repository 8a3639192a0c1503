//! Somebody who watches a worker through the hub.

use std::{collections::VecDeque, sync::Arc};

use bytes::Bytes;
use journal::{Chunk, Item, Seq};
use protocol::observation::{CloseCode, Control, Diagnostic, End, Leg, Resume, Trouble};
use serde_json::json;
use server::observed::Observed;
use tokio::sync::watch;

use crate::{
    eye::Eye,
    feed::{self, Attended, Beginning, Feed, Phase, Ticket},
    policy::{Policies, Sight, Verdict, What, Who},
};

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
    /// Who watches, if somebody must be asked what they may see.
    eye: Option<Eye>,
    /// It must be asked before anything is shown.
    must_ask: bool,
    sight: Sight,
    /// What they see has changed: they are to be told once more what the worker has come to.
    owes_snapshot: bool,
}

/// What comes after the beginning.
struct Reading {
    reader: journal::Reader,
    covered: Seq,
    /// It was told that everything from here on has just happened.
    live: bool,
    /// The last event that was sent.
    last: Option<Bytes>,
    /// It is seen through a lens.
    ticket: Option<Arc<Ticket>>,
}

impl Watch {
    pub(crate) fn new(feed: Attended, cursor: Option<String>) -> Self {
        let phase = feed.phase();
        Self {
            feed,
            cursor,
            phase,
            told: None,
            ready: VecDeque::new(),
            reading: None,
            eye: None,
            must_ask: false,
            sight: Sight::Whole,
            owes_snapshot: false,
        }
    }

    /// Shows only what somebody may see, and stops when that is nothing any more.
    #[must_use]
    pub fn seen_by(self, who: Who, policies: &Policies) -> Self {
        self.seen_with(Eye::new(who, None, policies))
    }

    /// The same, for somebody whose role may change.
    pub(crate) fn seen_with(self, eye: Eye) -> Self {
        Self { eye: Some(eye), must_ask: true, ..self }
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
            self.ask()?;
            if !self.ready.is_empty() {
                return Ok(self.ready.drain(..).collect());
            }
            if self.owes_snapshot && self.see_anew() {
                continue;
            }
            let Self { reading, eye, feed, must_ask, .. } = self;
            let frames = match reading {
                Some(reading) => tokio::select! {
                    biased;
                    () = told(eye) => {
                        *must_ask = true;
                        continue;
                    }
                    frames = reading.next(feed) => frames?,
                },
                None => {
                    self.begin().await?;
                    continue;
                }
            };
            self.ready.extend(frames.ok_or_else(|| self.over())?);
        }
    }

    /// Asks what they may see, if that has changed.
    fn ask(&mut self) -> Result<(), End> {
        let Some(eye) = &mut self.eye else { return Ok(()) };
        if !self.must_ask && !eye.has_changed() {
            return Ok(());
        }
        self.must_ask = false;
        let denied = |reason: String| End::with(Leg::Backend, Trouble::Denied, reason);
        let (who, policy) = eye.now().ok_or_else(|| denied("you may no longer watch this".into()))?;
        let (runtime, worker) = (&self.feed.runtime, &self.feed.worker);
        if let Verdict::Denied(reason) = policy.may(&who, &What::Watch { runtime, worker }) {
            return Err(denied(reason));
        }
        let sight = policy.sight(&who, runtime);
        let is_same = match (&self.sight, &sight) {
            (Sight::Whole, Sight::Whole) => true,
            (Sight::Through(old), Sight::Through(new)) => Arc::ptr_eq(old, new),
            _ => false,
        };
        if let Some(reading) = self.reading.as_mut().filter(|_| !is_same) {
            reading.ticket = match &sight {
                Sight::Whole => None,
                Sight::Through(lens) => Some(self.feed.look(lens).ok_or_else(unobservable)?),
            };
            self.owes_snapshot = true;
        }
        self.sight = sight;
        Ok(())
    }

    /// Tells what the worker has come to, as it is seen now, once everything before was told; whether it did.
    fn see_anew(&mut self) -> bool {
        let Some(reading) = self.reading.as_mut().filter(|reading| reading.live) else { return false };
        let Some((snapshot, ticket)) = self.feed.seen_anew(reading.reader.cursor().seq, &self.sight) else {
            return false;
        };
        reading.ticket = ticket;
        self.ready.push_back(snapshot);
        self.owes_snapshot = false;
        true
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
                let Beginning { snapshot, reader, covered, ticket } =
                    self.feed.begin(self.cursor.as_deref(), &self.sight).map_err(unusable)?;
                self.ready.push_back(snapshot);
                if self.cursor.is_some() {
                    self.ready.push_back(feed::control(Control::Resumed { resume: Resume::Ok }));
                }
                self.reading = Some(Reading { reader, covered, live: false, last: None, ticket });
            }
        }
        if self.ready.is_empty() {
            tokio::select! {
                _ = self.phase.changed() => {}
                () = told(&mut self.eye) => self.must_ask = true,
            }
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
    async fn next(&mut self, feed: &Feed) -> Result<Option<Vec<Bytes>>, End> {
        if !self.live && self.reader.cursor().seq >= self.covered {
            self.live = true;
            return Ok(Some(vec![feed::control(Control::Live)]));
        }
        match self.reader.next().await {
            None => Ok(None),
            Some(Item::Gap(_)) => Err(self.lagged()),
            Some(Item::Frames(chunk)) => match &self.ticket {
                None => Ok(Some(self.tell(&chunk, chunk.frames().map(|(_, frame)| frame)))),
                Some(ticket) => {
                    let frames = feed.through(ticket, &chunk).ok_or_else(|| self.lagged())?;
                    Ok(Some(self.tell(&chunk, frames.into_iter())))
                }
            },
        }
    }

    /// What was read, as it is told.
    fn tell(&mut self, chunk: &Chunk, frames: impl Iterator<Item = Bytes>) -> Vec<Bytes> {
        let mut told = Vec::with_capacity(chunk.len());
        let mut seq = chunk.first();
        for frame in frames {
            let (is_event, is_covered) = (feed::is_event(&frame), seq <= self.covered);
            seq = seq.next();
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

/// Waits until what they may see has changed.
async fn told(eye: &mut Option<Eye>) {
    match eye {
        Some(eye) => eye.told().await,
        None => std::future::pending().await,
    }
}

fn unobservable() -> End {
    End::with(Leg::Backend, Trouble::WorkerUnavailable, "what there is to see is not known")
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
