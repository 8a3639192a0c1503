//! What is counted of the feeds and of those who watch. Sums and the fullest, and never a number for each worker: there is
//! no end of them.

use journal::{JournalBounds, Retention};
use prometheus_client::{
    metrics::{
        counter::Counter,
        family::Family,
        gauge::{ConstGauge, Gauge},
    },
    registry::{Registry, Unit},
};
use protocol::hub::RuntimeKind;

use crate::reach::State;

/// What is counted of the feeds and of those who watch. Clones count together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Metrics {
    upstream_connects: Counter,
    upstream_disconnects: Counter,
    pub(crate) upstream_malformed: Counter,
    pub(crate) upstream_skipped: Counter,
    pub(crate) events_in: Counter,
    pub(crate) bytes_in: Counter,
    frames_out: Counter,
    bytes_out: Counter,
    pub(crate) lagged: Counter,
}

impl Metrics {
    pub(crate) fn register(&self, registry: &mut Registry) {
        let mut counter = |name: &str, help: &str, counter: &Counter| {
            registry.register(name, help, counter.clone());
        };
        counter("upstream_connects", "Worker streams opened", &self.upstream_connects);
        counter("upstream_disconnects", "Worker streams ended", &self.upstream_disconnects);
        let help = "Worker streams closed because of invalid frames";
        counter("upstream_malformed", help, &self.upstream_malformed);
        counter(
            "upstream_skipped",
            "Events that a runtime could not encode and left out",
            &self.upstream_skipped,
        );
        counter("events_in", "Events received from workers", &self.events_in);
        counter("frames_out", "Frames sent to viewers", &self.frames_out);
        counter("lagged", "Viewers disconnected because they were too slow", &self.lagged);
        let open = self.upstream_connects.get().saturating_sub(self.upstream_disconnects.get());
        registry.register("upstreams", "Open worker streams", ConstGauge::new(open));
        registry.register_with_unit("in", "Bytes received from workers", Unit::Bytes, self.bytes_in.clone());
        registry.register_with_unit("out", "Frames sent to viewers", Unit::Bytes, self.bytes_out.clone());
    }

    /// Counts a stream of a worker, which ends when that is dropped.
    pub(crate) fn connected(&self) -> Connected {
        self.upstream_connects.inc();
        Connected(self.upstream_disconnects.clone())
    }

    /// Counts frames that somebody gets.
    pub(crate) fn shown<'a>(&self, frames: impl ExactSizeIterator<Item = &'a bytes::Bytes>) {
        self.frames_out.inc_by(frames.len() as u64);
        self.bytes_out.inc_by(frames.map(|frame| frame.len() as u64).sum());
    }
}

/// A stream of a worker.
pub(crate) struct Connected(Counter);

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.inc();
    }
}

/// How it is with all feeds.
#[derive(Debug, Default)]
pub(crate) struct Fill {
    feeds: u64,
    away: u64,
    watchers: u64,
    events: u64,
    events_most: u64,
    bytes: u64,
    bytes_most: u64,
}

impl Fill {
    /// Adds one: whether its runtime is away, how many watch it, and what its backlog holds.
    pub(crate) fn add(&mut self, away: bool, watchers: usize, backlog: &JournalBounds) {
        self.feeds += 1;
        self.away += u64::from(away);
        self.watchers += watchers as u64;
        self.events += backlog.events;
        self.events_most = self.events_most.max(backlog.events);
        self.bytes += backlog.bytes;
        self.bytes_most = self.bytes_most.max(backlog.bytes);
    }

    /// Tells it, with how much each backlog may hold.
    pub(crate) fn register(&self, registry: &mut Registry, limit: Retention) {
        let mut gauge = |name: &str, help: &str, value: u64| {
            registry.register(name, help, ConstGauge::new(value));
        };
        gauge("feeds", "Workers being followed", self.feeds);
        gauge("feeds_away", "Followed workers whose runtime is unreachable", self.away);
        gauge("watchers", "Connected viewers", self.watchers);
        gauge("backlog_events_limit", "Retention limit per worker, in events", limit.events.get());
        gauge("backlog_events", "Retained events of all workers", self.events);
        gauge("backlog_events_most", "Retained events of the worker with the most", self.events_most);
        let mut bytes = |name: &str, help: &str, value: u64| {
            registry.register_with_unit(name, help, Unit::Bytes, ConstGauge::new(value));
        };
        bytes("backlog_limit", "Retention limit per worker, in bytes", limit.bytes.get());
        bytes("backlog", "Retained bytes of all workers", self.bytes);
        bytes("backlog_most", "Retained bytes of the worker with the most", self.bytes_most);
    }
}

/// Tells how many runtimes there are, by how the hub comes to each and how it was when it was last asked.
pub(crate) fn register_runtimes(
    registry: &mut Registry,
    runtimes: impl Iterator<Item = (RuntimeKind, State)>,
) {
    let label = |kind, state: State| [("kind", name(kind)), ("state", state.name())];
    let all = Family::<[(&'static str, &'static str); 2], Gauge>::default();
    for kind in [RuntimeKind::Remote, RuntimeKind::Joined, RuntimeKind::Local] {
        for state in [State::Unknown, State::Up, State::Down] {
            all.get_or_create_owned(&label(kind, state));
        }
    }
    for (kind, state) in runtimes {
        all.get_or_create(&label(kind, state)).inc();
    }
    registry.register("runtimes", "Registered runtimes", all);
}

/// How the hub comes to a runtime, as it is counted.
fn name(kind: RuntimeKind) -> &'static str {
    match kind {
        RuntimeKind::Remote => "remote",
        RuntimeKind::Joined => "joined",
        RuntimeKind::Local => "local",
    }
}
