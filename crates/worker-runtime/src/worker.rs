//! The owner of a session: one task that hears everybody and writes everything down.
//!
//! Whatever happens, the order is the same: events and notes are gathered in a draft, committed together, and only then
//! are they seen, is whoever asked answered, and is anything said to the agent.

mod agent;
mod commit;
mod facts;
mod msg;
mod orders;
mod restore;

use std::{sync::Arc, time::Duration};

use agents::{
    Definition,
    adapter::{Fact, Saying},
};
use jiff::Timestamp;
use journal::durable;
use protocol::{
    Event, InputId, TurnId,
    event::{InputState, SessionEndReason, SessionEnded, TurnEndReason, TurnEnded},
    sessions::{AgentError, SessionCreated},
};
use tokio::{sync::mpsc, time::Instant};
use tracing::Span;

use crate::{
    Error, draft::Draft, inputs::Inputs, kept::Kept, launch::Launcher, log::Log, metrics, shared::Shared,
    waits::Waits,
};

use agent::Agent;
use commit::RETRY;
pub(crate) use msg::{Answer, Msg, Reply, SentMessage, Stop};
pub(crate) use orders::nobody;
pub(crate) use restore::first;

/// How long an agent may take to end a turn after it was told to, before it is ended itself.
const INTERRUPT: Duration = Duration::from_secs(10);

/// The turn that runs.
struct Turn {
    id: TurnId,
    /// It was told to end, and has until then.
    interrupted: Option<Instant>,
    /// As those see it who look at traces.
    span: Span,
}

/// The owner of a session.
pub(crate) struct Worker {
    pub(crate) shared: Arc<Shared>,
    pub(crate) launcher: Arc<Launcher>,
    pub(crate) agent_row: Option<Arc<Definition>>,
    rx: mpsc::Receiver<Msg>,
    kept: Kept,
    dirty: bool,
    log: Log,
    inputs: Inputs,
    waits: Waits,
    turn: Option<Turn>,
    agent: Agent,
    /// What the agent that was started last works without.
    warnings: Vec<AgentError>,
    /// Whoever waits to hear whether the agent can be used.
    wakers: Vec<Reply<SessionCreated>>,
    draft: Draft,
    says: Vec<Saying>,
    /// What is answered once it is written down.
    answers: Vec<Box<dyn FnOnce() + std::marker::Send>>,
    /// Since when the agent has had nothing to do.
    idle_since: Instant,
    newest: u64,
    /// Nothing could be written for lack of space, so the agent was stopped.
    is_starved: bool,
    stopping: Option<(Stop, Reply<()>)>,
}

impl Worker {
    /// Runs until it is told to end.
    pub(crate) async fn run(mut self) {
        self.recover();
        while self.stopping.is_none() {
            self.pump();
            self.commit().await;
            if self.stopping.is_some() {
                break;
            }
            if self.turn.is_some() && (self.shared.journal.is_low() || self.is_starved) {
                self.stop_on_full_disk().await;
                continue;
            }
            let space = self.shared.journal.is_low().then(|| Instant::now() + RETRY);
            let (due, slow) = (self.next_due(), self.interrupt_deadline());
            let idle = self.idle_deadline();
            tokio::select! {
                msg = self.rx.recv() => match msg {
                    Some(msg) => self.on_msg(msg),
                    None => break,
                },
                step = self.agent.step() => self.on_step(step).await,
                () = sleep_until(due) => self.expire(),
                () = sleep_until(slow) => self.give_up().await,
                () = sleep_until(idle) => self.rest().await,
                // Queued inputs wait for space.
                () = sleep_until(space) => {}
            }
        }
        self.end().await;
    }

    fn on_msg(&mut self, msg: Msg) {
        if msg.begins_something() && self.shared.journal.is_low() {
            return msg.refuse(durable::Error::Low.into());
        }
        match msg {
            Msg::Wake(reply) => self.wake(reply),
            Msg::Send(message, reply) => {
                let result = self.accept(*message);
                self.answer(reply, result);
            }
            Msg::Edit(id, message, author, reply) => {
                let edited = self.inputs.edit(id, message, &author);
                let result = edited.map(|receipt| self.emit(Event::Input(receipt), true));
                self.answer(reply, result);
            }
            Msg::Withdraw(id, author, reply) => {
                let withdrawn = self.inputs.withdraw(id, author);
                let result = withdrawn.map(|receipt| self.emit(Event::Input(receipt), true));
                self.answer(reply, result);
            }
            Msg::Cancel(reply) => {
                self.interrupt();
                self.answer(reply, Ok(()));
            }
            Msg::Answer(wait, answer, author, reply) => {
                let result = self.settle(wait, answer, author);
                self.answer(reply, result);
            }
            Msg::Snapshot(reply) => {
                let snapshot = self.snapshot();
                self.answer(reply, Ok(snapshot));
            }
            Msg::Fold(reply) => {
                self.dirty = true;
                let newest = self.newest;
                self.answer(reply, Ok(newest));
            }
            Msg::Inputs(reply) => {
                let queued = self.inputs.queued().cloned().collect();
                self.answer(reply, Ok(queued));
            }
            Msg::Stop(why, reply) => self.stopping = Some((why, reply)),
        }
    }

    /// Notes what came of hearing or telling something.
    fn take(&mut self, out: agents::adapter::Out, raw: Option<&[u8]>) {
        self.says.extend(out.says);
        let mut raw = raw;
        for fact in out.facts {
            // What was said belongs to the first event that came of it; a receipt is not the agent's.
            let receipt = matches!(fact, Fact::Consumed(_) | Fact::Refused { .. });
            let before = self.draft.len();
            self.on_fact(fact, raw);
            if self.draft.len() > before && !receipt {
                raw = None;
            }
        }
    }

    /// Ends the agent and what it did, and writes that down.
    async fn end(&mut self) {
        self.wind_down().await;
        let Some((why, reply)) = self.stopping.take() else { return self.stop_agent().await };
        self.stop_agent().await;
        if self.turn.is_some() {
            self.end_turn(TurnEndReason::Interrupted, None, true);
        }
        if why == Stop::Delete {
            for id in self.inputs.queued().map(|input| input.id).collect::<Vec<_>>() {
                self.advance(id, InputState::Refused, Some("the session was deleted"));
            }
            self.emit(Event::Ended(SessionEnded { reason: SessionEndReason::Deleted }), true);
        }
        self.dirty = true;
        self.rx.close();
        self.commit().await;
        self.shared.journal.seal();
        while let Ok(msg) = self.rx.try_recv() {
            msg.refuse(Error::Ending(self.shared.id.clone()));
        }
        for waker in self.wakers.drain(..) {
            let _ = waker.send(Err(Error::Ending(self.shared.id.clone())));
        }
        let _ = reply.send(Ok(()));
    }

    /// Ends the turn that runs, if one does.
    fn end_turn(
        &mut self,
        reason: TurnEndReason,
        usage: Option<protocol::event::TokenUsage>,
        synthetic: bool,
    ) {
        for event in self.waits.withdraw_all() {
            self.emit(event, true);
        }
        for id in self.inputs.delivered() {
            self.advance(id, InputState::Consumed, None);
        }
        let Some(turn) = self.turn.take() else { return };
        turn.span.record("reason", metrics::ended(reason));
        if reason == TurnEndReason::Failed {
            telemetry::record_failure(&turn.span, metrics::ended(reason));
        }
        self.launcher.metrics.turn_ended(reason);
        self.emit(Event::TurnEnded(TurnEnded { turn_id: turn.id, reason, usage }), synthetic);
        self.idle_since = Instant::now();
        self.dirty = true;
    }

    fn advance(&mut self, id: InputId, state: InputState, reason: Option<&str>) {
        if let Some(receipt) = self.inputs.advance(id, state, reason) {
            self.emit(Event::Input(receipt), true);
        }
    }

    fn next_due(&self) -> Option<Instant> {
        let due = self.waits.next_due()?;
        let left = due.duration_since(Timestamp::now());
        Some(Instant::now() + Duration::try_from(left).unwrap_or_default())
    }

    fn interrupt_deadline(&self) -> Option<Instant> {
        self.turn.as_ref().and_then(|turn| turn.interrupted)
    }

    fn idle_deadline(&self) -> Option<Instant> {
        let can_go_on = self.agent_row.as_ref().is_some_and(|agent| agent.capabilities.resume == Some(true))
            && self.turn.is_none();
        let idle = matches!(&self.agent, Agent::Running { link, .. } if link.ready) && can_go_on;
        idle.then(|| self.idle_since + self.launcher.config.idle)
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
