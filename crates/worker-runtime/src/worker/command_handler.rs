//! The handling of commands.

use agent_adapters::{Order, Reply as AdapterReply};
use jiff::Timestamp;
use journal::durable;
use protocol::{
    Author, TurnId, WaitId,
    sessions::{MessageAccepted, SessionCreated, SessionInput, WhenBusy},
    wait::{Wait, WaitOutcome},
};

use super::Worker;
use crate::{
    Error,
    agent_slot::AgentPhase,
    default_author::default_author,
    sent_message::SentMessage,
    wait_reply::{WaitReply, expiry_reply},
    worker_command::{CommandReply, WorkerCommand},
};

impl Worker {
    pub(super) fn on_command(&mut self, command: WorkerCommand) {
        if command.needs_space() && self.handle.journal.is_low() {
            return command.reject(durable::Error::Low.into());
        }
        match command {
            WorkerCommand::StartAgent(reply) => self.start_and_report(reply),
            WorkerCommand::Send(message, reply) => {
                let result = self.accept_message(*message);
                self.committer.reply(reply, result);
            }
            WorkerCommand::Edit(id, message, author, reply) => {
                let result = self.conversation.edit_input(id, message, &author);
                self.committer.reply(reply, result);
            }
            WorkerCommand::Withdraw(id, author, reply) => {
                let result = self.conversation.withdraw_input(id, author);
                self.committer.reply(reply, result);
            }
            WorkerCommand::Cancel(reply) => {
                self.interrupt_turn();
                self.committer.reply(reply, Ok(()));
            }
            WorkerCommand::Settle(id, answer, author, reply) => {
                let result = self.settle_wait(id, answer, author);
                self.committer.reply(reply, result);
            }
            WorkerCommand::Snapshot(reply) => {
                let snapshot = self.conversation.snapshot(self.activity(), self.definition.as_deref());
                self.committer.reply(reply, Ok(snapshot));
            }
            WorkerCommand::StoreTranscript(reply) => {
                self.conversation.store_all();
                let newest_seq = self.committer.newest_seq();
                self.committer.reply(reply, Ok(newest_seq));
            }
            WorkerCommand::ListInputs(reply) => {
                let queued = self.conversation.inputs.queued().map(SessionInput::from).collect();
                self.committer.reply(reply, Ok(queued));
            }
            WorkerCommand::Stop(reason, reply) => self.stop = Some((reason, reply)),
        }
    }

    /// Starts the agent unless it is running, and replies when it is ready or has failed.
    fn start_and_report(&mut self, reply: CommandReply<SessionCreated>) {
        self.start_report.wait(reply);
        if self.agent.phase() == AgentPhase::Ready {
            self.report_start(None);
        } else {
            self.start_agent();
        }
    }

    /// Queues a message, or steers the running turn with it.
    fn accept_message(&mut self, message: SentMessage) -> Result<MessageAccepted, Error> {
        let SentMessage { request, key, .. } = &message;
        if let Some(key) = key
            && let Some(accepted) = self.conversation.inputs.find_repeated(key, request)?
        {
            return Ok(accepted);
        }
        let author = request.author.clone().map_or_else(default_author, Ok)?;
        let running = self.conversation.turn.id();
        let queued = self.conversation.inputs.queued().next().map(|input| input.turn_id);
        if let Some(turn) = running.or(queued) {
            match request.when_busy {
                WhenBusy::Reject => return Err(Error::Busy { session: self.handle.id.clone(), turn }),
                WhenBusy::Steer if running.is_some() => return self.steer(turn, message, author),
                WhenBusy::Queue | WhenBusy::Steer => {}
            }
        }
        let input = self.conversation.accept_input(message, TurnId::mint(), author)?;
        Ok(input.accepted())
    }

    /// Sends a message to the agent within the running turn.
    fn steer(
        &mut self,
        turn: TurnId,
        message: SentMessage,
        author: Author,
    ) -> Result<MessageAccepted, Error> {
        if !self.agent.link().is_some_and(|link| link.steers()) {
            return Err(Error::Unsupported {
                agent: self.conversation.stored().options.agent.clone(),
                feature: "steer",
                message: "it does not accept messages during a turn; send with `whenBusy: queue` instead",
            });
        }
        let input = self.conversation.accept_input(message, turn, author)?;
        self.conversation.deliver_input(&input);
        self.order(Order::Steer(input.to_prompt()));
        Ok(input.accepted())
    }

    /// Begins a turn with the next queued input if the agent is ready, or starts the agent for it.
    pub(super) fn deliver_next_input(&mut self) {
        if self.conversation.turn.is_running() || self.handle.journal.is_low() {
            return;
        }
        let Some(input) = self.conversation.inputs.queued().next().cloned() else { return };
        if self.agent.is_absent() {
            return self.start_agent();
        }
        let Some(link) = self.agent.link_mut().filter(|link| link.is_ready() && !link.is_leaving) else {
            return;
        };
        // Store the agent's greeting before the turn begins, or it would count as part of the turn.
        let greeting = link.prepare_turn();
        self.apply_output(greeting, None);
        self.conversation.begin_turn(input.turn_id, Some(input.id));
        self.emit_status(None);
        self.conversation.deliver_input(&input);
        self.order(Order::Prompt(input.to_prompt()));
    }

    /// Interrupts the running turn, if there is one.
    pub(super) fn interrupt_turn(&mut self) {
        if self.conversation.turn.interrupt() {
            self.order(Order::Interrupt);
        }
    }

    /// Settles a wait with a person's reply.
    fn settle_wait(&mut self, id: WaitId, reply: WaitReply, author: Author) -> Result<Wait, Error> {
        let wait = self.conversation.waits.find_open(id)?;
        let (outcome, answer) = reply.apply(id, &wait.request)?;
        self.resolve_wait(id, outcome, Some(author), answer);
        self.conversation.waits.find(id).map(Wait::from).ok_or(Error::WaitNotFound(id))
    }

    /// Settles the waits that have expired.
    pub(super) fn expire_waits(&mut self) {
        for (id, outcome) in self.conversation.waits.expired(Timestamp::now()) {
            let answer = expiry_reply(&outcome);
            self.resolve_wait(id, outcome, None, answer);
        }
    }

    fn resolve_wait(
        &mut self,
        id: WaitId,
        outcome: WaitOutcome,
        author: Option<Author>,
        reply: AdapterReply,
    ) {
        if let Some(key) = self.conversation.settle_wait(id, outcome, author) {
            self.order(Order::Answer { key, reply });
            self.emit_status(None);
        }
    }
}
