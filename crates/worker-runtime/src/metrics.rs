//! The metrics of sessions.

use journal::durable;
use prometheus_client::{
    metrics::{
        counter::Counter,
        family::Family,
        gauge::{ConstGauge, Gauge},
    },
    registry::Registry,
};
use protocol::{event::TurnEndReason, sessions::SessionState};

/// The only label of a metric.
type MetricLabel = [(&'static str, &'static str); 1];

/// The metrics of sessions. Clones share their counters.
#[derive(Debug, Clone)]
pub(crate) struct SessionMetrics {
    pub(crate) turn_starts: Counter,
    turn_ends: Family<MetricLabel, Counter>,
    pub(crate) agent_starts: Counter,
    pub(crate) agent_start_failures: Counter,
    pub(crate) agent_crashes: Counter,
    /// The metrics of the database.
    pub(crate) journal: durable::JournalMetrics,
}

/// The values of the label `reason`.
const REASONS: [TurnEndReason; 6] = [
    TurnEndReason::Completed,
    TurnEndReason::Interrupted,
    TurnEndReason::Failed,
    TurnEndReason::MaxTokens,
    TurnEndReason::Refused,
    TurnEndReason::Other,
];

/// The values of the label `state`.
const STATES: [SessionState; 5] = [
    SessionState::Dormant,
    SessionState::Starting,
    SessionState::Idle,
    SessionState::Running,
    SessionState::Waiting,
];

impl Default for SessionMetrics {
    fn default() -> Self {
        let turn_ends = Family::default();
        for reason in REASONS {
            turn_ends.get_or_create_owned(&[("reason", reason_label(reason))]);
        }
        Self {
            turn_starts: Counter::default(),
            turn_ends,
            agent_starts: Counter::default(),
            agent_start_failures: Counter::default(),
            agent_crashes: Counter::default(),
            journal: durable::JournalMetrics::default(),
        }
    }
}

impl SessionMetrics {
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register("turn_starts", "Turns started", self.turn_starts.clone());
        registry.register("turn_ends", "Turns ended", self.turn_ends.clone());
        registry.register("agent_starts", "Attempts to start a session's agent", self.agent_starts.clone());
        let help = "Failed attempts to start a session's agent";
        registry.register("agent_start_failures", help, self.agent_start_failures.clone());
        let help = "Session agents that exited unexpectedly";
        registry.register("agent_crashes", help, self.agent_crashes.clone());
        self.journal.register(registry.sub_registry_with_prefix("journal"));
    }

    pub(crate) fn turn_ended(&self, reason: TurnEndReason) {
        self.turn_ends.get_or_create(&[("reason", reason_label(reason))]).inc();
    }
}

/// Registers gauges with the states and the numbers of open waits of all sessions.
pub(crate) fn register_gauges(registry: &mut Registry, sessions: impl Iterator<Item = (SessionState, u64)>) {
    let states = Family::<MetricLabel, Gauge>::default();
    for known in STATES {
        states.get_or_create_owned(&[("state", state_label(known))]);
    }
    let (mut agents, mut waits) = (0, 0);
    for (now, open) in sessions {
        states.get_or_create(&[("state", state_label(now))]).inc();
        agents += u64::from(now != SessionState::Dormant);
        waits += open;
    }
    registry.register("sessions", "Existing sessions", states);
    registry.register("agents_running", "Running session agents", ConstGauge::new(agents));
    registry.register("waits_open", "Open questions and permission requests", ConstGauge::new(waits));
}

/// The value of the label `reason`.
pub(crate) fn reason_label(reason: TurnEndReason) -> &'static str {
    match reason {
        TurnEndReason::Completed => "completed",
        TurnEndReason::Interrupted => "interrupted",
        TurnEndReason::Failed => "failed",
        TurnEndReason::MaxTokens => "maxTokens",
        TurnEndReason::Refused => "refused",
        TurnEndReason::Other => "other",
    }
}

/// The value of the label `state`.
fn state_label(state: SessionState) -> &'static str {
    match state {
        SessionState::Dormant => "dormant",
        SessionState::Starting => "starting",
        SessionState::Idle => "idle",
        SessionState::Running => "running",
        SessionState::Waiting => "waiting",
        SessionState::Ended | SessionState::Other => "other",
    }
}
