//! Somebody who watches a worker and keeps what they see.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use hub::{Feeds, Watch};
use protocol::{
    Event, RuntimeId, SessionProjection,
    observation::{DiagnosticKind, EventEnvelope, ObservationFrame, ResumeOutcome, StreamControl, StreamEnd},
};

use crate::bus::{Bus, Host, worker};

pub(crate) struct Viewer {
    watch: Watch,
    frames: VecDeque<ObservationFrame>,
}

pub(crate) fn runtime() -> RuntimeId {
    "box".parse().unwrap()
}

impl Viewer {
    pub(crate) fn new(feeds: &Feeds, bus: &Arc<Bus>, cursor: Option<&str>) -> Self {
        let watch = feeds
            .watch((&runtime(), Arc::new(Host(Arc::clone(bus)))), &worker(), cursor.map(str::to_owned))
            .unwrap();
        Self::of(watch)
    }

    pub(crate) fn of(watch: Watch) -> Self {
        Self { watch, frames: VecDeque::new() }
    }

    /// The next event as it came.
    pub(crate) async fn bytes(&mut self) -> Bytes {
        loop {
            let mut frames = self.watch.next().await.unwrap();
            let last = frames.pop().unwrap();
            if last.starts_with(b"{\"kind\":\"event\"") {
                return last;
            }
        }
    }

    /// The next frame, or how it ended.
    pub(crate) async fn next(&mut self) -> Result<ObservationFrame, StreamEnd> {
        while self.frames.is_empty() {
            let frames = tokio::time::timeout(Duration::from_secs(60), self.watch.next()).await;
            let frames = frames.expect("nothing came")?;
            self.frames.extend(frames.iter().map(|frame| serde_json::from_slice(frame).unwrap()));
        }
        Ok(self.frames.pop_front().unwrap())
    }

    /// The next event.
    pub(crate) async fn envelope(&mut self) -> EventEnvelope {
        loop {
            match self.next().await.unwrap() {
                ObservationFrame::Event { envelope } => return *envelope,
                ObservationFrame::Control { .. } => {}
                ObservationFrame::Diagnostic { diagnostic } => panic!("{diagnostic:?}"),
            }
        }
    }

    pub(crate) async fn diagnostic(&mut self) -> DiagnosticKind {
        loop {
            if let ObservationFrame::Diagnostic { diagnostic } = self.next().await.unwrap() {
                return diagnostic.known().unwrap().1;
            }
        }
    }

    pub(crate) async fn end(&mut self) -> StreamEnd {
        loop {
            if let Err(end) = self.next().await {
                return end;
            }
        }
    }

    pub(crate) async fn is_there(&mut self) -> bool {
        self.watch.is_there().await
    }
}

/// What somebody knows who follows the rules: a state from snapshots and what is new, a log from all events.
#[derive(Default)]
pub(crate) struct Notebook {
    /// The events that were seen since the log began, each once, in order.
    pub(crate) log: Vec<Event>,
    /// How many events there were before the log.
    pub(crate) begun: u64,
    /// What the last snapshot and everything new after it come to.
    pub(crate) projection: Option<SessionProjection>,
    /// The last event that was seen.
    pub(crate) cursor: Option<String>,
    seen: HashSet<String>,
}

impl Notebook {
    pub(crate) fn write(&mut self, frame: &ObservationFrame) {
        let envelope = match frame {
            ObservationFrame::Event { envelope } => envelope,
            // What was seen before says nothing about what comes.
            ObservationFrame::Control {
                control: StreamControl::Resumed { resume: ResumeOutcome::Reset | ResumeOutcome::Gap },
            } => return self.forget(),
            ObservationFrame::Control { .. } | ObservationFrame::Diagnostic { .. } => return,
        };
        if let Event::Snapshot(snapshot) = &envelope.payload {
            self.projection = Some(SessionProjection::new((**snapshot).clone()));
            // Whoever goes on is still to be told what is missing in the log.
            if self.cursor.is_none() {
                self.begun = snapshot.seq;
                self.cursor = Some(envelope.cursor.clone());
            }
            return;
        }
        if let Some(projection) = self.projection.as_mut().filter(|_| !envelope.replay) {
            projection.apply(&envelope.payload, envelope.time.unwrap());
        }
        if self.seen.insert(envelope.event_id.clone()) {
            self.log.push(envelope.payload.clone());
        }
        self.cursor = Some(envelope.cursor.clone());
    }

    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }
}
