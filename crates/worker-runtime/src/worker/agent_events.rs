//! The agent: starting it, and applying its output to the conversation.

use agent_adapters::{Asking, Fact, Order, Out, Reply as AdapterReply};
use protocol::{
    Event, TurnId,
    event::{InputState, SessionStatus, TokenUsage, TurnEndReason},
    sessions::AgentError,
    wait::PermissionAnswer,
};
use tracing::{info, warn};

use super::Worker;
use crate::{
    agent_link::{AgentLink, AgentOutput},
    agent_slot::{AgentSlot, AgentStep},
    launcher::AgentStart,
};

impl Worker {
    pub(super) async fn on_agent_step(&mut self, step: AgentStep) {
        match step {
            AgentStep::Started(Ok(mut link)) => {
                for warning in std::mem::take(&mut link.warnings) {
                    self.warn(warning, None);
                }
                let output = self.agent.begin_handshake(link, self.launcher.config.ready_timeout);
                self.apply_output(output, None);
            }
            AgentStep::Started(Err(error)) => {
                self.launcher.metrics.agent_start_failures.inc();
                self.fail(&error);
            }
            AgentStep::Output(outputs) => {
                for AgentOutput { out, raw } in outputs {
                    self.apply_output(out, raw.as_deref());
                }
            }
            AgentStep::Ended => {
                if let Some(link) = self.agent.vacate() {
                    self.on_exit(*link).await;
                }
            }
            AgentStep::HandshakeTimedOut => {
                self.agent.stop().await;
                self.fail(&AgentError::Timeout { message: "the agent did not become ready in time".into() });
            }
        }
    }

    /// Starts the agent unless it is running or being started.
    pub(super) fn start_agent(&mut self) {
        if !self.agent.is_absent() {
            return;
        }
        self.launcher.metrics.agent_starts.inc();
        self.start_report.clear_warnings();
        let stored = self.conversation.stored_mut();
        stored.runs += 1;
        let start = AgentStart {
            options: stored.options.clone(),
            secrets: self.handle.secrets.clone(),
            token: self.handle.token.lock().clone(),
            directory: stored.directory.clone(),
            private: self.launcher.private_directory(&self.handle.id),
            run: format!("r{}", stored.runs),
            resume: stored.agent_session_id.clone(),
            asks_models: false,
        };
        let launcher = self.launcher.clone();
        self.agent = AgentSlot::Starting(Box::pin(async move { launcher.start(start).await }));
        self.emit_status(None);
    }

    /// Gives an order to the agent, if it is running.
    pub(super) fn order(&mut self, order: Order) {
        if let Some(output) = self.agent.order(order) {
            self.apply_output(output, None);
        }
    }

    /// Applies the adapter's output: facts to the conversation; messages wait for the next commit.
    pub(super) fn apply_output(&mut self, output: Out, mut raw: Option<&[u8]>) {
        self.committer.send(output.says);
        for fact in output.facts {
            // The agent's message is stored with the first event that it led to. A receipt is not the agent's.
            let is_receipt = matches!(fact, Fact::Consumed(_) | Fact::Refused { .. });
            let events_before = self.conversation.new_events();
            self.apply_fact(fact, raw);
            if self.conversation.new_events() > events_before && !is_receipt {
                raw = None;
            }
        }
    }

    fn apply_fact(&mut self, fact: Fact, raw: Option<&[u8]>) {
        match fact {
            Fact::Ready => self.on_ready(),
            Fact::Started { agent_session_id, mut started } => {
                if let Some(link) = self.agent.link_mut() {
                    link.is_introduced = true;
                }
                let stored = self.conversation.stored_mut();
                started.resumed |= agent_session_id.is_some() && agent_session_id == stored.agent_session_id;
                stored.agent_session_id = agent_session_id.or(stored.agent_session_id.take());
                self.conversation.emit_from_agent(Event::Started(started), raw);
            }
            // The adapter checks the choices of a session itself. Only requests for the list use the report.
            Fact::Offers(_) => {}
            Fact::Event(event) => self.on_event(event, raw),
            Fact::Warning(warning) => self.warn(warning, raw),
            Fact::TurnStarted => {
                if !self.conversation.turn.is_running() {
                    self.conversation.begin_turn(TurnId::mint(), None);
                    self.emit_status(None);
                }
            }
            Fact::Consumed(input) => self.conversation.advance_input(input, InputState::Consumed, None),
            Fact::Refused { input, reason } => {
                self.conversation.advance_input(input, InputState::Refused, Some(&reason));
            }
            Fact::Asked { key, asking } => self.on_question(key, asking, raw),
            Fact::Withdrawn { key } => self.conversation.withdraw_wait(&key, raw),
            Fact::TurnEnded { reason, usage, error } => self.on_turn_end(reason, usage, error, raw),
            Fact::Failed(AgentError::ResumeFailed { message })
                if self.conversation.stored().agent_session_id.is_some() =>
            {
                self.restart_without_resume(message);
            }
            Fact::Failed(error) => self.fail(&error),
            Fact::Leaving => {
                if let Some(link) = self.agent.link_mut() {
                    link.is_leaving = true;
                }
            }
        }
    }

    fn on_ready(&mut self) {
        if let Some(link) = self.agent.link_mut() {
            link.mark_ready();
        }
        self.report_start(None);
        self.emit_status(None);
        if !self.conversation.turn.is_running() {
            return;
        }
        // An earlier process of the agent may have received an input without starting to work on it.
        let delivered = self.conversation.inputs.delivered().next().map(|input| input.to_prompt());
        if let Some(prompt) = delivered {
            self.order(Order::Prompt(prompt));
        }
    }

    fn on_event(&mut self, event: Event, raw: Option<&[u8]>) {
        let event = match event {
            // The adapter knows only the agent's state, and a turn or a wait may be open.
            Event::Status(SessionStatus { state: _, detail }) => {
                let state = self.conversation.state(self.agent.phase());
                Event::Status(SessionStatus { state, detail })
            }
            event => event,
        };
        match &event {
            Event::Error(error) => self.conversation.stored_mut().error = Some(error.clone()),
            Event::Plan(plan) => self.conversation.stored_mut().plan = plan.clone(),
            Event::CommandsUpdated(updated) => {
                self.conversation.stored_mut().commands = updated.commands.clone();
            }
            _ => {}
        }
        self.conversation.emit_from_agent(event, raw);
    }

    /// Reports that the agent works without an MCP server or skill. That is not an error of the session.
    fn warn(&mut self, warning: AgentError, raw: Option<&[u8]>) {
        self.start_report.warn(warning.clone());
        self.conversation.emit_from_agent(Event::Error(warning), raw);
    }

    fn on_question(&mut self, key: String, asking: Asking, raw: Option<&[u8]>) {
        let rejection = match asking {
            Asking::Permission(_) => AdapterReply::Permission(PermissionAnswer::Reject),
            Asking::Question(_) => AdapterReply::Dismissed,
        };
        let answer_timeout = self.launcher.config.answer_timeout;
        if self.conversation.open_wait(key.clone(), asking, answer_timeout, raw) {
            self.emit_status(None);
        } else {
            warn!(session = %self.handle.id, "the agent has too many open questions; rejecting another");
            self.order(Order::Answer { key, reply: rejection });
        }
    }

    fn on_turn_end(
        &mut self,
        reason: TurnEndReason,
        usage: Option<TokenUsage>,
        error: Option<AgentError>,
        raw: Option<&[u8]>,
    ) {
        let is_interrupted = self.conversation.turn.is_interrupted();
        let stored = self.conversation.stored_mut();
        if let Some(usage) = &usage {
            stored.usage.add(usage);
        }
        stored.error = error.clone();
        // Agents report an interrupted turn in many ways, some of them as an error.
        if let Some(error) = error.filter(|_| !is_interrupted) {
            self.conversation.emit_from_agent(Event::Error(error), raw);
        }
        let reason = if is_interrupted && reason == TurnEndReason::Failed {
            TurnEndReason::Interrupted
        } else {
            reason
        };
        self.conversation.end_turn_from_agent(reason, usage);
        self.emit_status(None);
    }

    /// Handles the exit of the agent's process, or the loss of its server.
    async fn on_exit(&mut self, link: AgentLink) {
        let (is_leaving, is_introduced, is_ready) = (link.is_leaving, link.is_introduced, link.is_ready());
        let error = link.wait_for_exit().await;
        info!(session = %self.handle.id, ?error, "the agent ended");
        if is_leaving {
            self.conversation.end_turn(TurnEndReason::Interrupted);
            return self.emit_status(None);
        }
        self.launcher.metrics.agent_crashes.inc();
        if !is_introduced && self.is_resume_failure(&error) {
            self.restart_without_resume(message_of(&error));
        } else if is_ready {
            self.on_crash(error);
        } else {
            self.fail(&error);
        }
    }

    /// Whether the agent could not resume its conversation and said so only on standard error before it exited.
    fn is_resume_failure(&self, error: &AgentError) -> bool {
        let (Some(id), AgentError::ProcessExited { code: Some(_), stderr, .. }) =
            (&self.conversation.stored().agent_session_id, error)
        else {
            return false;
        };
        stderr.contains(id.as_str())
    }

    /// Starts an agent that could not resume its conversation with a new one. It gets the inputs again that it had not consumed.
    fn restart_without_resume(&mut self, message: String) {
        self.agent = AgentSlot::Absent;
        self.committer.discard_messages();
        self.conversation.stored_mut().agent_session_id = None;
        self.conversation.emit(Event::Error(AgentError::ResumeFailed { message }));
        self.start_agent();
    }

    /// Ends the turn after a crash of the agent. The next input starts the agent again.
    fn on_crash(&mut self, error: AgentError) {
        let is_interrupted = self.conversation.turn.is_interrupted();
        self.conversation.stored_mut().error = Some(error.clone());
        self.conversation.emit(Event::Error(error));
        let reason = if is_interrupted { TurnEndReason::Interrupted } else { TurnEndReason::Failed };
        self.conversation.end_turn(reason);
        self.emit_status(None);
    }

    /// Gives up on an agent that cannot be used: refuses the queued inputs, and reports the error to the requests that wait for
    /// the start.
    fn fail(&mut self, error: &AgentError) {
        // Dropping the link kills the process, if there is one.
        self.agent = AgentSlot::Absent;
        self.committer.discard_messages();
        self.conversation.stored_mut().error = Some(error.clone());
        self.conversation.emit(Event::Error(error.clone()));
        self.conversation.refuse_inputs(&message_of(error));
        self.report_start(Some(error));
        if self.conversation.turn.is_running() {
            self.conversation.end_turn(TurnEndReason::Failed);
        }
        self.emit_status(None);
    }

    /// Answers the requests that wait for the start of the agent.
    pub(super) fn report_start(&mut self, error: Option<&AgentError>) {
        let agent_session_id = self.conversation.stored().agent_session_id.clone();
        let outcome = self.start_report.outcome(error, agent_session_id);
        for waiting in self.start_report.take_waiting() {
            self.committer.reply(waiting, Ok(outcome.clone()));
        }
    }
}

/// The message of an error, for people.
fn message_of(error: &AgentError) -> String {
    match error {
        AgentError::TokenError { message }
        | AgentError::InstallFailed { message }
        | AgentError::StartFailed { message }
        | AgentError::Timeout { message }
        | AgentError::Unsupported { message, .. }
        | AgentError::ModelError { message, .. }
        | AgentError::ResumeFailed { message }
        | AgentError::ProtocolError { message }
        | AgentError::McpUnavailable { message, .. }
        | AgentError::SkillUnavailable { message, .. }
        | AgentError::StorageError { message }
        | AgentError::Other { message } => message.clone(),
        AgentError::ProcessExited { stderr, .. } => stderr.clone(),
        AgentError::Unknown(error) => serde_json::Value::Object(error.clone()).to_string(),
    }
}
