//! The owner of a session: one task that changes its state and drives its agent.
//!
//! The order is always the same: changes are gathered, committed together, and only then published, replied to and sent to the
//! agent.

mod agent_events;
mod command_handler;

use std::{sync::Arc, time::Duration};

use agent_catalog::Definition;
use jiff::Timestamp;
use journal::durable;
use protocol::{
    Event,
    event::{SessionEndReason, SessionEnded, TurnEndReason},
    sessions::AgentError,
};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use tracing::{info, warn};

use crate::{
    Error,
    agent_slot::{AgentPhase, AgentSlot},
    committer::Committer,
    conversation_state::ConversationState,
    error::chain,
    launcher::Launcher,
    session_handle::{SessionActivity, SessionHandle},
    start_report::StartReport,
    worker_command::{CommandReply, StopCause, WorkerCommand},
};

/// How long to wait after a failed commit before the next attempt.
const RETRY: Duration = Duration::from_millis(500);

/// Why a turn was interrupted and its waits were withdrawn, for users.
const RESTARTED: &str = "the daemon restarted";

/// The owner of a session: one task that changes its state and drives its agent.
pub(crate) struct Worker {
    handle: Arc<SessionHandle>,
    launcher: Arc<Launcher>,
    definition: Option<Arc<Definition>>,
    commands: mpsc::Receiver<WorkerCommand>,
    conversation: ConversationState,
    agent: AgentSlot,
    start_report: StartReport,
    committer: Committer,
    /// Whether the agent was stopped because a commit failed.
    is_starved: bool,
    stop: Option<(StopCause, CommandReply<()>)>,
}

impl Worker {
    /// Restores a session. On an error the commands are returned, so that the caller can reject them.
    pub(crate) async fn open(
        handle: Arc<SessionHandle>,
        launcher: Arc<Launcher>,
        definition: Option<Arc<Definition>>,
        commands: mpsc::Receiver<WorkerCommand>,
    ) -> Result<Self, (Error, mpsc::Receiver<WorkerCommand>)> {
        let conversation = match ConversationState::restore(&handle, launcher.metrics.clone()).await {
            Ok(conversation) => conversation,
            Err(error) => return Err((error, commands)),
        };
        Ok(Self {
            committer: Committer::new(handle.clone()),
            handle,
            launcher,
            definition,
            commands,
            conversation,
            agent: AgentSlot::Absent,
            start_report: StartReport::default(),
            is_starved: false,
            stop: None,
        })
    }

    /// Runs until a command stops it.
    pub(crate) async fn run(mut self) {
        if self.conversation.was_interrupted() {
            self.conversation.end_turn(TurnEndReason::Interrupted);
            self.emit_status(Some(RESTARTED.into()));
        }
        while self.stop.is_none() {
            self.deliver_next_input();
            self.commit().await;
            if self.stop.is_some() {
                break;
            }
            if self.conversation.turn.is_running() && (self.handle.journal.is_low() || self.is_starved) {
                self.stop_on_full_disk().await;
                continue;
            }
            let expiry = self.next_expiry();
            let interrupt = self.conversation.turn.interrupt_deadline();
            let idle = self.idle_deadline();
            // Queued inputs wait for space on the disk.
            let space = self.handle.journal.is_low().then(|| Instant::now() + RETRY);
            tokio::select! {
                command = self.commands.recv() => match command {
                    Some(command) => self.on_command(command),
                    None => break,
                },
                step = self.agent.next_step() => self.on_agent_step(step).await,
                () = sleep_until(expiry) => self.expire_waits(),
                () = sleep_until(interrupt) => self.stop_slow_agent().await,
                () = sleep_until(idle) => self.stop_idle_agent().await,
                () = sleep_until(space) => {}
            }
        }
        self.shut_down().await;
    }

    /// Stores all changes, then publishes them, replies to commands and sends messages to the agent.
    ///
    /// While that fails, nothing else happens: the agent is stopped, because its actions would not be recorded, and commands are
    /// rejected.
    async fn commit(&mut self) {
        let mut is_changed = self.committer.gather(&mut self.conversation);
        while let Err(error) = self.committer.write().await {
            if !self.wait_for_space(error).await {
                return;
            }
            is_changed = true;
        }
        self.conversation.trim();
        let activity = self.activity();
        if is_changed {
            self.conversation.publish(&self.handle, activity, self.definition.as_deref());
        } else {
            self.handle.publish_progress(activity);
        }
        self.committer.release(&mut self.agent);
    }

    /// Waits after a failed commit, and rejects commands meanwhile. Returns whether to try again.
    async fn wait_for_space(&mut self, error: durable::Error) -> bool {
        let is_final =
            matches!(error, durable::Error::Closed | durable::Error::Deleted | durable::Error::Died);
        let error = Error::from(error);
        warn!(session = %self.handle.id, error = %chain(&error), "could not write an event");
        if is_final {
            let (reply, _) = oneshot::channel();
            self.stop.get_or_insert((StopCause::Shutdown, reply));
            return false;
        }
        if !self.agent.is_absent() {
            self.agent.stop().await;
            self.is_starved = true;
        }
        self.handle.view.write().error = Some(AgentError::StorageError { message: chain(&error) });
        let retry = Instant::now() + RETRY;
        loop {
            tokio::select! {
                () = tokio::time::sleep_until(retry) => return true,
                command = self.commands.recv() => match command {
                    Some(WorkerCommand::Stop(reason, reply)) => {
                        self.stop = Some((reason, reply));
                        return false;
                    }
                    Some(command) => command.reject(error.clone()),
                    None => return false,
                },
            }
        }
    }

    /// Stops the agent of a running turn because its actions could not be recorded. The end of the turn is written to the reserve.
    async fn stop_on_full_disk(&mut self) {
        warn!(session = %self.handle.id, "stopped an agent because the disk is full");
        self.interrupt_shared_agent().await;
        self.agent.stop().await;
        self.is_starved = false;
        let message =
            "the disk is full, so the agent was stopped; free some space and send the message again";
        let error = AgentError::StorageError { message: message.into() };
        self.conversation.stored_mut().error = Some(error.clone());
        self.conversation.emit(Event::Error(error));
        self.conversation.end_turn(TurnEndReason::Interrupted);
        self.emit_status(None);
    }

    /// Stops an agent that did not end its turn in time after an interrupt.
    async fn stop_slow_agent(&mut self) {
        self.agent.stop().await;
        self.conversation.end_turn(TurnEndReason::Interrupted);
        self.emit_status(None);
    }

    /// Stops an agent that has been idle for long. The next input starts it again.
    async fn stop_idle_agent(&mut self) {
        info!(session = %self.handle.id, "stopped an idle agent");
        self.agent.stop().await;
        self.emit_status(None);
    }

    /// Interrupts the turn of an agent whose process keeps running for other sessions, and waits for the end of the turn.
    async fn interrupt_shared_agent(&mut self) {
        let is_shared = self.agent.link().is_some_and(|link| link.is_shared());
        if !is_shared || !self.conversation.turn.is_running() {
            return;
        }
        self.interrupt_turn();
        let deadline = Some(Instant::now() + self.launcher.config.grace);
        while self.conversation.turn.is_running() {
            self.commit().await;
            tokio::select! {
                step = self.agent.next_step() => self.on_agent_step(step).await,
                () = sleep_until(deadline) => break,
            }
        }
    }

    /// Stops the agent, ends the turn and stores that.
    async fn shut_down(&mut self) {
        self.interrupt_shared_agent().await;
        self.agent.stop().await;
        // Without a reason, the sessions were dropped; there is no journal to write to.
        let Some((reason, reply)) = self.stop.take() else { return };
        if self.conversation.turn.is_running() {
            self.conversation.end_turn(TurnEndReason::Interrupted);
        }
        if reason == StopCause::Delete {
            self.conversation.refuse_inputs("the session was deleted");
            self.conversation.emit(Event::Ended(SessionEnded { reason: SessionEndReason::Deleted }));
        }
        self.conversation.store_all();
        self.commands.close();
        self.commit().await;
        self.handle.journal.seal();
        while let Ok(command) = self.commands.try_recv() {
            command.reject(Error::Ending(self.handle.id.clone()));
        }
        for waiting in self.start_report.take_waiting() {
            let _ = waiting.send(Err(Error::Ending(self.handle.id.clone())));
        }
        let _ = reply.send(Ok(()));
    }

    fn emit_status(&mut self, detail: Option<String>) {
        self.conversation.emit_status(self.agent.phase(), detail);
    }

    fn activity(&self) -> SessionActivity {
        self.conversation.activity(self.agent.phase(), self.committer.newest_seq())
    }

    /// When the next wait expires.
    fn next_expiry(&self) -> Option<Instant> {
        let expiry = self.conversation.waits.next_expiry()?;
        let remaining = expiry.duration_since(Timestamp::now());
        Some(Instant::now() + Duration::try_from(remaining).unwrap_or_default())
    }

    /// When to stop the agent if it stays idle: only one that can resume its conversation.
    fn idle_deadline(&self) -> Option<Instant> {
        let capabilities = self.definition.as_ref()?.capabilities;
        if self.agent.phase() != AgentPhase::Ready || capabilities.resume != Some(true) {
            return None;
        }
        let ready_since = self.agent.link()?.ready_since()?;
        Some(self.conversation.turn.idle_since()?.max(ready_since) + self.launcher.config.idle)
    }
}

/// Sleeps until the deadline; for ever without one.
pub(crate) async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
