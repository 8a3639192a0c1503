//! The agent of a session: starting it, hearing it, ending it.

use std::time::Duration;

use futures_util::future::BoxFuture;
use protocol::{Event, event::TurnEndReason, sessions::AgentError};
use tokio::time::Instant;
use tracing::{info, warn};

use super::{Worker, facts::reason, sleep_until};
use crate::{
    launch::Start,
    link::{Link, Said},
};

/// How long an agent may take until it can be told things. Some are 300 MB and start on a busy machine.
const HANDSHAKE: Duration = Duration::from_secs(120);

/// The agent of a session.
pub(super) enum Agent {
    Absent,
    Starting(BoxFuture<'static, Result<Link, AgentError>>),
    Running { link: Box<Link>, deadline: Instant },
}

/// What the agent has come to.
pub(super) enum Step {
    Started(Result<Box<Link>, AgentError>),
    Said(Vec<Said>),
    Ended,
    TooSlow,
}

impl Agent {
    /// Waits for what it comes to. Cancel safe.
    pub(super) async fn step(&mut self) -> Step {
        match self {
            Agent::Absent => std::future::pending().await,
            Agent::Starting(starting) => Step::Started(starting.await.map(Box::new)),
            Agent::Running { link, deadline } => {
                let slow = (!link.ready).then_some(*deadline);
                tokio::select! {
                    said = link.hear() => said.map_or(Step::Ended, Step::Said),
                    () = sleep_until(slow) => Step::TooSlow,
                }
            }
        }
    }
}

impl Worker {
    pub(super) async fn on_step(&mut self, step: Step) {
        match step {
            Step::Started(Ok(mut link)) => {
                for warning in std::mem::take(&mut link.warnings) {
                    self.warn(warning, None);
                }
                let out = link.start();
                let deadline = Instant::now() + HANDSHAKE;
                self.agent = Agent::Running { link, deadline };
                self.take(out, None);
            }
            Step::Started(Err(error)) => {
                self.launcher.metrics.agent_start_failures.inc();
                self.fail(&error);
            }
            Step::Said(said) => {
                for Said { out, raw } in said {
                    self.take(out, raw.as_deref());
                }
            }
            Step::Ended => {
                if let Agent::Running { link, .. } = std::mem::replace(&mut self.agent, Agent::Absent) {
                    let (leaving, ready) = (link.leaving, link.ready);
                    let introduced = link.introduced;
                    let error = link.gone().await;
                    info!(session = %self.shared.id, ?error, "the agent ended");
                    if !leaving {
                        self.launcher.metrics.agent_crashes.inc();
                    }
                    match leaving {
                        true => self.left(),
                        false if !introduced && self.is_forgotten(&error) => {
                            self.start_afresh(&reason(&error))
                        }
                        false if ready => self.died(error),
                        false => self.fail(&error),
                    }
                }
            }
            Step::TooSlow => {
                self.stop_agent().await;
                self.fail(&AgentError::Timeout { message: "the agent did not become ready in time".into() });
            }
        }
    }

    /// Whether the agent could not go on with its earlier conversation and said so only on its way out.
    fn is_forgotten(&self, error: &AgentError) -> bool {
        let (Some(id), AgentError::ProcessExited { code: Some(_), stderr, .. }) =
            (&self.stored.agent_session_id, error)
        else {
            return false;
        };
        stderr.contains(id.as_str())
    }

    /// Starts the agent, unless it runs or is being started.
    pub(super) fn start_agent(&mut self) {
        if !matches!(self.agent, Agent::Absent) {
            return;
        }
        self.launcher.metrics.agent_starts.inc();
        self.stored.runs += 1;
        self.warnings.clear();
        self.dirty = true;
        let start = Start {
            options: self.stored.options.clone(),
            secrets: self.shared.secrets.clone(),
            token: self.shared.token.lock().clone(),
            directory: self.stored.directory.clone(),
            private: self.launcher.private(&self.shared.id),
            run: format!("r{}", self.stored.runs),
            resume: self.stored.agent_session_id.clone(),
            asks_models: false,
        };
        let launcher = self.launcher.clone();
        self.agent = Agent::Starting(Box::pin(async move { launcher.start(start).await }));
        self.emit_status(None);
    }

    pub(super) async fn stop_agent(&mut self) {
        if let Agent::Running { link, .. } = std::mem::replace(&mut self.agent, Agent::Absent) {
            link.stop().await;
        }
    }

    /// The agent has had nothing to do for long: it is started again when there is something.
    pub(super) async fn rest(&mut self) {
        info!(session = %self.shared.id, "stopped an idle agent");
        self.stop_agent().await;
        self.emit_status(None);
    }

    /// The agent does not end its turn: it is ended itself.
    pub(super) async fn give_up(&mut self) {
        self.stop_agent().await;
        self.end_turn(TurnEndReason::Interrupted, None, true);
        self.emit_status(None);
    }

    /// The disk is full: an agent that goes on would do what is on no record. Its end is written to the reserve.
    pub(super) async fn stop_on_full_disk(&mut self) {
        warn!(session = %self.shared.id, "stopped an agent because the disk is full");
        self.wind_down().await;
        self.stop_agent().await;
        self.is_starved = false;
        let message =
            "the disk is full, so the agent was stopped; free some space and send the message again";
        let error = AgentError::StorageError { message: message.into() };
        self.stored.error = Some(error.clone());
        self.dirty = true;
        self.emit(Event::Error(error), true);
        self.end_turn(TurnEndReason::Interrupted, None, true);
        self.emit_status(None);
    }

    /// A server goes on without us: what it does for us is ended first.
    pub(super) async fn wind_down(&mut self) {
        let shared = matches!(&self.agent, Agent::Running { link, .. } if link.is_shared());
        if !shared || self.turn.is_none() {
            return;
        }
        self.interrupt();
        let deadline = Some(Instant::now() + self.launcher.config.grace);
        while self.turn.is_some() {
            self.commit().await;
            tokio::select! {
                step = self.agent.step() => self.on_step(step).await,
                () = sleep_until(deadline) => break,
            }
        }
    }
}
