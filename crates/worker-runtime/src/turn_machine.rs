//! The turn of a session: whether one is running, and whether it was interrupted.

use std::time::Duration;

use protocol::{AgentName, SessionId, TurnId, event::TurnEndReason};
use telemetry::SpanLink;
use tokio::time::Instant;
use tracing::{Span, field::Empty, info_span};

use crate::metrics::{self, SessionMetrics};

/// How long an agent may take to end a turn after an interrupt. Then its process is stopped.
const INTERRUPT_MAX: Duration = Duration::from_secs(10);

/// The turn of a session: whether one is running, and whether it was interrupted.
pub(crate) struct TurnMachine {
    running: Option<RunningTurn>,
    /// When the last turn ended, or the session was opened.
    idle_since: Instant,
    metrics: SessionMetrics,
}

struct RunningTurn {
    id: TurnId,
    /// Set by an interrupt.
    interrupt_deadline: Option<Instant>,
    /// The turn in traces.
    span: Span,
}

impl TurnMachine {
    /// Restores the turn that was running when the session was last stored.
    pub(crate) fn new(running: Option<TurnId>, metrics: SessionMetrics) -> Self {
        let running = running.map(|id| RunningTurn { id, interrupt_deadline: None, span: Span::none() });
        Self { running, idle_since: Instant::now(), metrics }
    }

    /// The running turn.
    pub(crate) fn id(&self) -> Option<TurnId> {
        self.running.as_ref().map(|turn| turn.id)
    }

    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// When the last turn ended, or the session was opened; `None` while a turn is running.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        (!self.is_running()).then_some(self.idle_since)
    }

    pub(crate) fn begin(&mut self, id: TurnId, session: &SessionId, agent: &AgentName) {
        let span = info_span!(parent: None, "turn", %session, turn = %id, %agent, reason = Empty);
        self.running = Some(RunningTurn { id, interrupt_deadline: None, span });
        self.metrics.turn_starts.inc();
    }

    /// Links the running turn to a request that sent a message of it.
    pub(crate) fn link_sender(&self, sender: SpanLink) {
        if let Some(turn) = &self.running {
            sender.add_to(&turn.span);
        }
    }

    /// Marks the running turn as interrupted and returns whether the agent must be interrupted now: not without a turn, and
    /// not a second time.
    pub(crate) fn interrupt(&mut self) -> bool {
        let Some(turn) = self.running.as_mut().filter(|turn| turn.interrupt_deadline.is_none()) else {
            return false;
        };
        turn.interrupt_deadline = Some(Instant::now() + INTERRUPT_MAX);
        true
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt_deadline().is_some()
    }

    /// When an interrupted turn must have ended.
    pub(crate) fn interrupt_deadline(&self) -> Option<Instant> {
        self.running.as_ref().and_then(|turn| turn.interrupt_deadline)
    }

    /// Ends the running turn and returns its id.
    pub(crate) fn end(&mut self, reason: TurnEndReason) -> Option<TurnId> {
        let turn = self.running.take()?;
        turn.span.record("reason", metrics::reason_label(reason));
        if reason == TurnEndReason::Failed {
            telemetry::record_failure(&turn.span, metrics::reason_label(reason));
        }
        self.metrics.turn_ended(reason);
        self.idle_since = Instant::now();
        Some(turn.id)
    }
}
