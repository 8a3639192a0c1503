//! A runtime in this process, that keeps everything and can be cut off. That it can stand in for a remote one shows that
//! nothing in the hub depends on which it is (observation-7).

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use axum::body::Body;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use hub::{Down, Runtime, Upstream};
use jiff::Timestamp;
use protocol::{
    Event, SessionId, SessionProjection,
    event::SessionStatus,
    observation::{
        DiagnosticKind, EventEnvelope, ObservationFrame, ResumeOutcome, StreamControl, StreamDiagnostic,
        StreamLeg,
    },
    sessions::{SessionSnapshot, SessionState},
};
use serde_json::json;
use tokio::sync::watch;

/// What one worker said, and who hears it.
pub(crate) struct Bus {
    pub(crate) name: SessionId,
    state: watch::Sender<Said>,
    /// How many hear it now, and how often somebody began to.
    pub(crate) open: AtomicUsize,
    pub(crate) opened: AtomicUsize,
}

#[derive(Clone)]
struct Said {
    /// Each life of the worker has cursors of its own.
    life: u32,
    events: Vec<Event>,
    /// How many of the last events a cursor may be behind.
    kept: usize,
    /// Changes when everybody is cut off.
    cuts: u32,
    /// Nobody is let in.
    down: bool,
    /// There is no such worker.
    gone: bool,
    /// The frame that is sent next, besides the events.
    interjection: Option<String>,
    /// How many events before a cursor are told once more.
    stutter: usize,
    /// After how many frames the next who hears it is cut off.
    fuse: Option<usize>,
}

impl Bus {
    pub(crate) fn new() -> Arc<Self> {
        Self::named(worker())
    }

    pub(crate) fn named(name: SessionId) -> Arc<Self> {
        let said = Said {
            life: 1,
            events: Vec::new(),
            kept: usize::MAX,
            cuts: 0,
            down: false,
            gone: false,
            interjection: None,
            stutter: 0,
            fuse: None,
        };
        let (open, opened) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Arc::new(Self { name, state: watch::Sender::new(said), open, opened })
    }

    /// Something happens; each is different.
    pub(crate) fn publish(&self, count: usize) {
        self.state.send_modify(|said| {
            for _ in 0..count {
                let detail = Some(format!("{}-{}", said.life, said.events.len() + 1));
                said.events.push(Event::Status(SessionStatus { state: SessionState::Running, detail }));
            }
        });
    }

    /// This happens.
    pub(crate) fn say(&self, event: Event) {
        self.state.send_modify(|said| said.events.push(event));
    }

    /// Everything that happened in this life.
    pub(crate) fn events(&self) -> Vec<Event> {
        self.state.borrow().events.clone()
    }

    /// What the worker has come to.
    pub(crate) fn snapshot(&self) -> SessionSnapshot {
        let said = self.state.borrow();
        snapshot(said.life, &said.events)
    }

    pub(crate) fn cut(&self) {
        self.state.send_modify(|said| said.cuts += 1);
    }

    pub(crate) fn set_down(&self, down: bool) {
        self.state.send_modify(|said| (said.down, said.cuts) = (down, said.cuts + 1));
    }

    pub(crate) fn keep(&self, kept: usize) {
        self.state.send_modify(|said| said.kept = kept);
    }

    pub(crate) fn stutter(&self, stutter: usize) {
        self.state.send_modify(|said| said.stutter = stutter);
    }

    pub(crate) fn cut_next_after(&self, frames: usize) {
        self.state.send_modify(|said| said.fuse = Some(frames));
    }

    pub(crate) fn talk_nonsense(&self) {
        self.state.send_modify(|said| said.interjection = Some("nonsense".into()));
    }

    /// Sends a diagnostic of the runtime.
    pub(crate) fn diagnose(&self, kind: DiagnosticKind) {
        let diagnostic = StreamDiagnostic::new(StreamLeg::Runtime, kind, "as the test says");
        let frame = text(&ObservationFrame::Diagnostic { diagnostic });
        self.state.send_modify(|said| said.interjection = Some(frame));
    }

    pub(crate) fn end(&self) {
        self.state.send_modify(|said| (said.gone, said.cuts) = (true, said.cuts + 1));
    }

    /// The worker begins a new life with nothing said.
    pub(crate) fn be_born_again(&self) {
        self.state.send_modify(|said| {
            (said.life, said.cuts) = (said.life + 1, said.cuts + 1);
            said.events.clear();
        });
    }
}

pub(crate) fn worker() -> SessionId {
    "w".parse().unwrap()
}

/// What a worker has come to in this life, after these events.
fn snapshot(life: u32, events: &[Event]) -> SessionSnapshot {
    let session = json!({
        "id": "w", "agent": "mock", "agentSessionId": null, "title": life.to_string(), "agentMode": "", "permissionMode": "default",
        "model": null, "variant": null, "directory": "/", "state": "idle", "turnId": null, "queuedInputs": 0, "openWaits": 0,
        "usage": {}, "error": null, "capabilities": protocol::agents::AgentCapabilities::default(),
        "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z", "newest": 0,
    });
    let empty = SessionSnapshot {
        seq: 0,
        session: serde_json::from_value(session).unwrap(),
        messages: Vec::new(),
        has_earlier: false,
        waits: Vec::new(),
        inputs: Vec::new(),
        plan: Default::default(),
        commands: Vec::new(),
    };
    let mut projection = SessionProjection::new(empty);
    events.iter().for_each(|event| projection.apply(event, Timestamp::UNIX_EPOCH));
    projection.snapshot()
}

/// One who hears it.
struct Hearing {
    bus: Arc<Bus>,
    state: watch::Receiver<Said>,
    life: u32,
    cuts: u32,
    ready: std::collections::VecDeque<String>,
    /// How many events it was told.
    told: usize,
    /// How many more frames it gets.
    fuse: usize,
    ended: bool,
}

fn text(frame: &ObservationFrame) -> String {
    serde_json::to_string(frame).unwrap()
}

fn event(name: &SessionId, life: u32, number: usize, event: Event, replay: bool) -> String {
    let cursor = format!("{life}-{number}");
    let event_id = match event {
        Event::Snapshot(_) => format!("snapshot:{cursor}"),
        _ => cursor.clone(),
    };
    let envelope = EventEnvelope {
        cursor,
        event_id,
        runtime_id: None,
        worker_id: name.clone(),
        time: Some(Timestamp::UNIX_EPOCH),
        replay,
        payload: event,
    };
    text(&ObservationFrame::Event { envelope: envelope.into() })
}

/// The runtime that the worker is of.
pub(crate) struct Host(pub(crate) Arc<Bus>);

impl Runtime for Host {
    fn send(&self, _: Request<Body>) -> BoxFuture<'_, Result<Response<Body>, Down>> {
        Box::pin(async { Err(Down::Unreachable) })
    }

    fn watch<'a>(
        &'a self,
        id: &'a SessionId,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Box<dyn Upstream>, Down>> {
        Box::pin(async move {
            let bus = &self.0;
            let state = bus.state.subscribe();
            let said = state.borrow().clone();
            if said.gone || *id != bus.name {
                return Err(Down::NoWorker);
            }
            if said.down {
                return Err(Down::Unreachable);
            }
            bus.open.fetch_add(1, Ordering::SeqCst);
            bus.opened.fetch_add(1, Ordering::SeqCst);
            let (life, cuts, total) = (said.life, said.cuts, said.events.len());
            let mut hearing = Hearing {
                bus: Arc::clone(bus),
                state,
                life,
                cuts,
                ready: Default::default(),
                told: total,
                fuse: said.fuse.unwrap_or(usize::MAX),
                ended: false,
            };
            let place = cursor.map(|cursor| {
                let (of, number) = cursor.split_once('-').unwrap();
                let number: usize = number.parse().unwrap();
                match of.parse() == Ok(life) && number <= total {
                    false => Err(DiagnosticKind::CursorUnknown),
                    true if total - number > said.kept => Err(DiagnosticKind::CursorExpired),
                    true => Ok(number),
                }
            });
            bus.state.send_modify(|said| said.fuse = None);
            match place {
                Some(Err(trouble)) => {
                    let diagnostic = StreamDiagnostic::new(StreamLeg::Runtime, trouble, "no");
                    hearing.ready.push_back(text(&ObservationFrame::Diagnostic { diagnostic }));
                    hearing.ended = true;
                }
                place => {
                    let whole = Event::Snapshot(Box::new(snapshot(life, &said.events)));
                    hearing.ready.push_back(event(&bus.name, life, total, whole, false));
                    if let Some(Ok(number)) = place {
                        let control = StreamControl::Resumed { resume: ResumeOutcome::Ok };
                        hearing.ready.push_back(text(&ObservationFrame::Control { control }));
                        for (at, missed) in
                            said.events.iter().enumerate().skip(number.saturating_sub(said.stutter))
                        {
                            hearing.ready.push_back(event(&bus.name, life, at + 1, missed.clone(), true));
                        }
                    }
                    hearing
                        .ready
                        .push_back(text(&ObservationFrame::Control { control: StreamControl::Live }));
                }
            }
            Ok(Box::new(hearing) as Box<dyn Upstream>)
        })
    }
}

impl Upstream for Hearing {
    fn next(&mut self) -> BoxFuture<'_, Result<Option<String>, Down>> {
        Box::pin(async {
            loop {
                let (cut, next, interjection) = {
                    let said = self.state.borrow_and_update();
                    let cut = said.cuts != self.cuts || said.life != self.life;
                    (cut, said.events.get(self.told).cloned(), said.interjection.clone())
                };
                if cut || self.fuse == 0 {
                    return Ok(None);
                }
                if let Some(frame) = self.ready.pop_front() {
                    self.fuse -= 1;
                    return Ok(Some(frame));
                }
                if self.ended {
                    return Ok(None);
                }
                if let Some(frame) = interjection {
                    self.bus.state.send_modify(|said| said.interjection = None);
                    return Ok(Some(frame));
                }
                if let Some(happened) = next {
                    self.told += 1;
                    return Ok(Some(event(&self.bus.name, self.life, self.told, happened, false)));
                }
                if self.state.changed().await.is_err() {
                    return Ok(None);
                }
            }
        })
    }
}

impl Drop for Hearing {
    fn drop(&mut self) {
        self.bus.open.fetch_sub(1, Ordering::SeqCst);
    }
}
