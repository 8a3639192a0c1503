//! One worker as the hub knows it: what it has come to, and the last of what happened.

mod backlog;
mod frames;
mod heard;
mod lenses;
mod pull;
mod shown;

use std::{num::NonZeroU64, sync::Arc};

use bytes::Bytes;
use jiff::Timestamp;
use journal::{FrameBuffer as Appended, FrameChunk, Retention, RingJournal, RingWriter, Seq, StartPosition};
use parking_lot::Mutex;
use protocol::{
    Event, RuntimeId, SessionId, SessionProjection,
    observation::{DiagnosticKind, ResumeOutcome, StreamControl, StreamDiagnostic, StreamLeg},
};
use subscribers::{SubscriberCount, Subscription};
use tokio::sync::watch;

use crate::{
    Pace, Runtime, SigningKey,
    metrics::{Fill, Metrics},
    policy::{Redactor, Visibility},
    seal::Seal,
};
use backlog::Backlog;
use frames::Frames;
use heard::{Heard, Malformed};
use lenses::Lenses;

pub(crate) use frames::{control, cursor, diagnostic, is_event, replayed};
pub(crate) use shown::Ticket;

/// How much of what happened in a worker is kept for those who come back, unless something else is said.
pub const BACKLOG: Retention =
    Retention { events: NonZeroU64::new(1024).unwrap(), bytes: NonZeroU64::new(8 << 20).unwrap() };

/// How it is with a worker.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Phase {
    /// Nobody has tried to reach it yet.
    New,
    /// It cannot be reached yet: why.
    Away(StreamDiagnostic),
    /// What it has come to is known. From now on what goes wrong is told between the events.
    Known,
    /// It cannot be watched any more: why.
    Gone(StreamDiagnostic),
}

/// One worker.
pub(crate) struct Feed {
    pub(crate) runtime: RuntimeId,
    pub(crate) worker: SessionId,
    seal: Seal,
    /// The place that the first who came wants to go on from.
    wanted: Option<String>,
    frames: Frames,
    ring: RingJournal,
    now: Mutex<Now>,
    phase: watch::Sender<Phase>,
    pub(crate) subscribers: SubscriberCount,
    pub(crate) metrics: Metrics,
}

/// What changes with each event.
struct Now {
    writer: RingWriter,
    known: Option<Known>,
    backlog: Backlog,
    /// The same as it is shown to those who do not see everything.
    lenses: Lenses,
}

/// What a worker has come to.
struct Known {
    projection: SessionProjection,
    /// What the runtime calls the place of the last event that is in it.
    place: String,
    /// What is said to be in it already is only kept for those who come back. So it begins with a runtime that goes on
    /// from a place, until everything from there on was said.
    catching_up: bool,
    /// The same as a frame, until something happens.
    frame: Option<Bytes>,
}

/// Where somebody begins to watch.
pub(crate) struct Beginning {
    /// What goes first.
    pub(crate) snapshot: Bytes,
    /// What comes after it, …
    pub(crate) reader: journal::RingReader,
    /// … of which everything up to here is in the snapshot.
    pub(crate) covered: Seq,
    /// Whoever does not see everything looks through a lens.
    pub(crate) ticket: Option<Arc<Ticket>>,
}

impl Feed {
    /// A worker of which nothing is known yet; the first who wants to watch it may have a cursor.
    pub(crate) fn new(
        (key, backlog, metrics): (SigningKey, Retention, Metrics),
        runtime: RuntimeId,
        worker: SessionId,
        cursor: Option<&str>,
    ) -> Self {
        let (writer, ring) = RingJournal::new(backlog);
        let seal = Seal::new(key, &runtime, &worker);
        Self {
            // One that is no good is told to who has it.
            wanted: cursor.and_then(|cursor| seal.open(cursor).ok()),
            seal,
            frames: Frames::new(&runtime, &worker),
            runtime,
            worker,
            ring,
            now: Mutex::new(Now {
                writer,
                known: None,
                backlog: Backlog::default(),
                lenses: Lenses::default(),
            }),
            phase: watch::Sender::new(Phase::New),
            subscribers: SubscriberCount::default(),
            metrics,
        }
    }

    /// Adds it to how it is with all of them.
    pub(crate) fn count(&self, fill: &mut Fill) {
        let away = matches!(&*self.phase.borrow(), Phase::Away(_));
        fill.add(away, self.subscribers.len(), &self.ring.bounds());
    }

    /// Follows the worker for as long as there is one.
    pub(crate) async fn follow(&self, runtime: &dyn Runtime, pace: &Pace) {
        pull::pull(self, runtime, pace).await;
    }

    pub(crate) fn phase(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    /// Subscribes a viewer; `None` if the feed was given up because it had none for long.
    pub(crate) fn subscribe(self: &Arc<Self>) -> Option<SubscribedFeed> {
        let subscription = self.subscribers.subscribe()?;
        Some(SubscribedFeed { feed: Arc::clone(self), _subscription: subscription })
    }

    /// Where to begin after `cursor`, or with what there is now.
    pub(crate) fn begin(
        &self,
        cursor: Option<&str>,
        sight: &Visibility,
    ) -> Result<Beginning, DiagnosticKind> {
        let place = cursor.map(|cursor| self.seal.open(cursor)).transpose()?;
        let mut now = self.now.lock();
        let covered = now.writer.next_seq().before();
        let oldest = self.ring.bounds().oldest;
        let Now { known: Some(_), backlog, .. } = &mut *now else {
            return Err(DiagnosticKind::RuntimeUnavailable);
        };
        let from = match place {
            None => covered,
            Some(place) => backlog.find(&place).ok_or(DiagnosticKind::CursorExpired)?,
        };
        if from.next() < oldest && from < covered {
            return Err(DiagnosticKind::CursorExpired);
        }
        let (snapshot, ticket) = self.come_to(&mut now, sight).ok_or(DiagnosticKind::RuntimeUnavailable)?;
        // Under the lock: nothing is appended meanwhile.
        let reader =
            self.ring.reader(StartPosition::Resume(from)).map_err(|_| DiagnosticKind::CursorExpired)?;
        Ok(Beginning { snapshot, reader, covered, ticket })
    }

    /// What the worker has come to, as somebody sees it from now on who has read up to `seq`; nothing if there is more.
    pub(crate) fn seen_anew(&self, seq: Seq, sight: &Visibility) -> Option<(Bytes, Option<Arc<Ticket>>)> {
        let mut now = self.now.lock();
        if now.writer.next_seq().before() != seq {
            return None;
        }
        self.come_to(&mut now, sight)
    }

    /// Looks through a lens from now on; nothing if it is not known what there is to see.
    pub(crate) fn look(&self, lens: &Arc<dyn Redactor>) -> Option<Arc<Ticket>> {
        let mut now = self.now.lock();
        let Now { known: Some(known), lenses, .. } = &mut *now else { return None };
        Some(lenses.look(lens, &self.ring, || known.projection.snapshot()).ticket())
    }

    /// What was read, as it is shown, with empty frames for what is not; nothing if some of it is no longer kept.
    pub(crate) fn through(&self, ticket: &Arc<Ticket>, chunk: &FrameChunk) -> Option<Vec<(Seq, Bytes)>> {
        let now = self.now.lock();
        let shown = now.lenses.of(ticket)?;
        chunk.frames().map(|(seq, frame)| Some((seq, shown.at(seq, frame)?))).collect()
    }

    /// What the worker has come to, as a frame.
    fn come_to(&self, now: &mut Now, sight: &Visibility) -> Option<(Bytes, Option<Arc<Ticket>>)> {
        let Now { known: Some(known), lenses, .. } = now else { return None };
        let frame = |known: &Known, snapshot| self.frames.snapshot(&self.seal.close(&known.place), snapshot);
        let Visibility::Redacted(lens) = sight else {
            let whole = known.frame.take().unwrap_or_else(|| frame(known, known.projection.snapshot()));
            return Some((known.frame.insert(whole).clone(), None));
        };
        let shown = lenses.look(lens, &self.ring, || known.projection.snapshot());
        let seen = shown.snapshot.take();
        let seen = seen.unwrap_or_else(|| frame(known, shown.come_to(known.projection.snapshot())));
        Some((shown.snapshot.insert(seen).clone(), Some(shown.ticket())))
    }

    /// The place to go on from, as the runtime calls it: everything up to it is known, or was to whoever came first.
    fn resumed_from(&self) -> Option<String> {
        let mut now = self.now.lock();
        // Not everything was said that is said to be in the snapshot: it is asked for once more.
        now.known.take_if(|known| known.catching_up);
        now.known.as_ref().map_or_else(|| self.wanted.clone(), |known| Some(known.place.clone()))
    }

    /// Takes a frame of the runtime, which goes on from the place `from`, or begins with what there is. A snapshot that
    /// replaces what is known is announced as `restart`.
    fn take(&self, text: &str, from: Option<&str>, restart: ResumeOutcome) -> Result<Taken, Malformed> {
        match Heard::parse(text, &self.worker)? {
            Heard::Event { place, time, replay, payload, event } => {
                let mut now = self.now.lock();
                match event {
                    // What happened since is told event by event.
                    Event::Snapshot(_) if from.is_some() && now.known.is_some() => {}
                    Event::Snapshot(snapshot) => {
                        let projection = SessionProjection::new(*snapshot);
                        self.restart(&mut now, projection, &place, (from, restart))
                    }
                    event => self.append(&mut now, &place, time, payload, (!replay, &event)),
                }
            }
            Heard::Live => self.caught_up(),
            Heard::Other => {}
            Heard::Diagnostic(diagnostic) if is_skipped_event(&diagnostic) => {
                self.metrics.upstream_skipped.inc();
                self.tell(diagnostic);
            }
            Heard::Diagnostic(diagnostic) => return Ok(Taken::Trouble(diagnostic)),
        }
        Ok(Taken::Fine)
    }

    /// Keeps an event, and what comes of it if it is `new` to the snapshot.
    fn append(
        &self,
        now: &mut Now,
        place: &str,
        time: Option<Timestamp>,
        payload: &str,
        (new, event): (bool, &Event),
    ) {
        let Now { writer, known: Some(known), backlog, lenses } = now else { return };
        if backlog.find(place).is_some() {
            return;
        }
        if new || !known.catching_up {
            known.projection.apply(event, time.unwrap_or_else(Timestamp::now));
            known.place.replace_range(.., place);
            known.frame = None;
        }
        self.metrics.events_in.inc();
        let frame = self.frames.event(&self.seal.close(place), time, payload);
        let seq = *writer.append(Appended::one(frame.clone())).end();
        backlog.add(place, seq);
        let oldest = self.ring.bounds().oldest;
        backlog.forget_before(oldest.before());
        lenses.take(oldest, seq, &frame);
    }

    /// Begins anew with a snapshot: those who watch are told, and earlier cursors mean nothing any more.
    fn restart(
        &self,
        now: &mut Now,
        projection: SessionProjection,
        place: &str,
        (from, resume): (Option<&str>, ResumeOutcome),
    ) {
        let Now { writer, known, backlog, lenses } = now;
        backlog.clear();
        if known.is_some() {
            let restarted = control(StreamControl::Resumed { resume });
            let frame = self.frames.snapshot(&self.seal.close(place), projection.snapshot());
            let seq = *writer.append(Appended::from_iter([restarted, frame.clone()])).end();
            lenses.take(self.ring.bounds().oldest, seq, &frame);
        }
        let catching_up = from.is_some_and(|from| from != place);
        backlog.add(from.unwrap_or(place), writer.next_seq().before());
        *known = Some(Known { projection, place: place.into(), catching_up, frame: None });
    }

    /// Everything up to now was said.
    fn caught_up(&self) {
        let mut now = self.now.lock();
        let Some(known) = &mut now.known else { return };
        known.catching_up = false;
        drop(now);
        self.phase.send_replace(Phase::Known);
    }

    /// Tells those who watch that something is wrong.
    fn tell(&self, diagnostic: StreamDiagnostic) {
        let mut now = self.now.lock();
        match now.known {
            Some(_) => drop(now.writer.append(Appended::one(frames::diagnostic(&diagnostic)))),
            None => drop(self.phase.send_replace(Phase::Away(diagnostic))),
        }
    }

    /// Tells those who watch something that did not come of the runtime; nobody else, as it is no part of the events.
    pub(crate) fn tell_control(&self, told: StreamControl) {
        let mut now = self.now.lock();
        let Now { writer, known: Some(_), lenses, .. } = &mut *now else { return };
        let frame = control(told);
        let seq = *writer.append(Appended::one(frame.clone())).end();
        lenses.take(self.ring.bounds().oldest, seq, &frame);
    }

    /// Tells those who watch that all is well again.
    fn tell_resumed(&self) {
        let frame = control(StreamControl::Resumed { resume: ResumeOutcome::Ok });
        self.now.lock().writer.append(Appended::one(frame));
    }

    /// Its runtime is no longer known.
    pub(crate) fn dismiss(&self) {
        self.end(DiagnosticKind::WorkerNotFound, "the runtime was removed");
    }

    /// Waits until it has ended.
    pub(crate) async fn dismissed(&self) {
        // It fails only when there is no feed any more.
        let _ = self.phase.subscribe().wait_for(|phase| matches!(phase, Phase::Gone(_))).await;
    }

    /// Ends it: those who watch read what there is, and are told why.
    fn end(&self, trouble: DiagnosticKind, message: &str) {
        self.phase.send_replace(Phase::Gone(StreamDiagnostic::new(StreamLeg::Backend, trouble, message)));
        self.seal();
    }

    /// Nothing more comes: those who watch read what there is.
    pub(crate) fn seal(&self) {
        self.now.lock().writer.seal();
    }
}

/// Whether a diagnostic is about one event that the runtime left out. Its stream goes on.
fn is_skipped_event(diagnostic: &StreamDiagnostic) -> bool {
    matches!(diagnostic.known(), Some((_, DiagnosticKind::SerializeFailed)))
}

/// What a frame of a runtime came to.
enum Taken {
    Fine,
    /// Something is wrong with the runtime's stream.
    Trouble(StreamDiagnostic),
}

/// A feed that is followed for as long as this is not dropped.
pub(crate) struct SubscribedFeed {
    feed: Arc<Feed>,
    _subscription: Subscription,
}

impl std::ops::Deref for SubscribedFeed {
    type Target = Feed;

    fn deref(&self) -> &Feed {
        &self.feed
    }
}
