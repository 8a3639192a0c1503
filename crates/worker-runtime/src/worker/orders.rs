//! What the worker is asked to do.

use agents::adapter::{Order, Prompt, Reply as Reaction};
use jiff::Timestamp;
use protocol::{
    Author, Event, Message, TurnId, WaitId,
    event::InputState,
    message::{MessagePart, MessageRole, PartContent},
    sessions::{MessageAccepted, MessageAttachment, SessionCreated, SessionInput, SessionSnapshot, WhenBusy},
    wait::{PermissionAnswer, PermissionOutcome, QuestionOutcome, Wait, WaitOutcome, WaitRequest},
};
use tokio::time::Instant;

use super::{Agent, Answer, INTERRUPT, Reply, SentMessage, Worker};
use crate::{
    Error,
    inputs::{receipt, sent},
    waits,
};

/// Who sends what says nothing of who sent it.
const NOBODY: &str = "user";

impl Worker {
    /// Has the agent running, and tells whether it can be used.
    pub(super) fn wake(&mut self, reply: Reply<SessionCreated>) {
        self.wakers.push(reply);
        match &self.agent {
            Agent::Running { link, .. } if link.ready => self.tell_wakers(None),
            _ => self.start_agent(),
        }
    }

    /// Writes down a message for the agent.
    pub(super) fn accept(&mut self, message: SentMessage) -> Result<MessageAccepted, Error> {
        let SentMessage { request: send, key, .. } = &message;
        if let Some(key) = key
            && let Some(sent) = self.inputs.repeated(key, send)?
        {
            return Ok(sent);
        }
        let author = match send.author.clone() {
            Some(author) => author,
            None => nobody()?,
        };
        let waiting = self.inputs.queued().next().map(|input| input.turn_id);
        let running = self.turn.as_ref().map(|turn| turn.id);
        if let Some(turn) = running.or(waiting) {
            match send.when_busy {
                WhenBusy::Reject => return Err(Error::Busy { session: self.shared.id.clone(), turn }),
                WhenBusy::Steer if running.is_some() => return self.steer(turn, message, author),
                WhenBusy::Queue | WhenBusy::Steer => {}
            }
        }
        let input = self.inputs.accept(message, TurnId::mint(), author)?;
        self.accepted(&input);
        Ok(sent(&input))
    }

    /// Tells the agent something while it works.
    fn steer(
        &mut self,
        turn: TurnId,
        message: SentMessage,
        author: Author,
    ) -> Result<MessageAccepted, Error> {
        if !matches!(&self.agent, Agent::Running { link, .. } if link.steers()) {
            return Err(Error::Unsupported {
                agent: self.kept.create.agent.clone(),
                feature: "steer",
                message: "it does not accept messages during a turn; send with `whenBusy: queue` instead",
            });
        }
        let sender = message.sender.clone();
        let input = self.inputs.accept(message, turn, author)?;
        if let (Some(turn), Some(sender)) = (&self.turn, sender) {
            sender.add_to(&turn.span);
        }
        self.accepted(&input);
        self.deliver(&input);
        self.tell(Order::Steer(prompt(&input)));
        Ok(sent(&input))
    }

    fn accepted(&mut self, input: &SessionInput) {
        if self.kept.first_words.is_none() {
            self.kept.first_words = protocol::title_of_message(&input.message);
            self.dirty |= self.kept.first_words.is_some();
        }
        let mut told = receipt(input);
        told.message = Some(input.message.clone());
        self.emit(Event::Input(told), true);
    }

    fn deliver(&mut self, input: &SessionInput) {
        self.advance(input.id, InputState::Delivered, None);
        self.emit(Event::Message(said(input)), true);
    }

    /// Hands the next input to the agent if it has nothing to do; starts the agent if there is one to hand over.
    pub(super) fn pump(&mut self) {
        if self.turn.is_some() || self.shared.journal.is_low() {
            return;
        }
        let Some(input) = self.inputs.queued().next().cloned() else { return };
        match &mut self.agent {
            Agent::Absent => self.start_agent(),
            Agent::Running { link, .. } if link.ready && !link.leaving => {
                // A greeting is noted before the turn, or it would count as part of it.
                let greeting = link.turn_begins();
                self.take(greeting, None);
                self.begin_turn(input.turn_id, Some(input.id));
                self.deliver(&input);
                self.tell(Order::Prompt(prompt(&input)));
            }
            Agent::Starting(_) | Agent::Running { .. } => {}
        }
    }

    /// Hands over again what an earlier process of the agent was handed and did not take.
    pub(super) fn deliver_again(&mut self) {
        if self.turn.is_some()
            && let Some(input) = self.inputs.delivered().first().and_then(|id| self.inputs.get(*id)).cloned()
        {
            self.tell(Order::Prompt(prompt(&input)));
        }
    }

    /// Ends the turn that runs, if one does.
    pub(super) fn interrupt(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        if turn.interrupted.is_none() {
            turn.interrupted = Some(Instant::now() + INTERRUPT);
            self.tell(Order::Interrupt);
        }
    }

    /// Settles a wait as a person answers it.
    pub(super) fn settle(&mut self, id: WaitId, answer: Answer, author: Author) -> Result<Wait, Error> {
        let (outcome, reaction) = match (&self.waits.get(id)?.request, answer) {
            (WaitRequest::Permission(_), Answer::Permission(answer)) => {
                (WaitOutcome::Permission(outcome(answer)), Reaction::Permission(answer))
            }
            (WaitRequest::Question(question), Answer::Answers(answers)) => {
                waits::check(question, &answers)?;
                let outcome = QuestionOutcome::Answered(answers.clone());
                (WaitOutcome::Question(outcome), Reaction::Answers(answers))
            }
            (WaitRequest::Permission(_), Answer::No) => {
                let answer = PermissionAnswer::Reject;
                (WaitOutcome::Permission(outcome(answer)), Reaction::Permission(answer))
            }
            (WaitRequest::Question(_), Answer::Reject | Answer::No) => {
                (WaitOutcome::Question(QuestionOutcome::Rejected), Reaction::Dismissed)
            }
            (WaitRequest::Permission(_) | WaitRequest::Question(_), _) => {
                return Err(Error::WaitNotFound(id));
            }
        };
        self.resolve(id, outcome, Some(author), reaction);
        self.waits.find(id).cloned().ok_or(Error::WaitNotFound(id))
    }

    /// Settles the waits that nobody answered in time.
    pub(super) fn expire(&mut self) {
        for (id, outcome) in self.waits.overdue(Timestamp::now()) {
            let reaction = match outcome {
                WaitOutcome::Permission(_) => Reaction::Permission(PermissionAnswer::Reject),
                WaitOutcome::Question(_) => Reaction::Dismissed,
            };
            self.resolve(id, outcome, None, reaction);
        }
    }

    fn resolve(&mut self, id: WaitId, outcome: WaitOutcome, author: Option<Author>, reply: Reaction) {
        if let Some((event, key)) = self.waits.settle(id, outcome, author) {
            self.emit(event, true);
            self.tell(Order::Answer { key, reply });
            self.emit_status(None);
        }
    }

    /// Asks something of the agent, if it is there.
    pub(super) fn tell(&mut self, order: Order) {
        if let Agent::Running { link, .. } = &mut self.agent {
            let out = link.tell(order);
            self.take(out, None);
        }
    }

    /// What all events so far come to.
    pub(super) fn snapshot(&self) -> SessionSnapshot {
        let (messages, has_earlier) = self.log.last();
        let waits: Vec<_> = self.waits.unsettled().cloned().collect();
        let session = self.session(waits.len());
        SessionSnapshot {
            seq: self.newest,
            session,
            messages,
            has_earlier,
            waits,
            inputs: self.inputs.queued().cloned().collect(),
            plan: self.kept.plan.clone(),
            commands: self.kept.commands.clone(),
        }
    }
}

pub(crate) fn nobody() -> Result<Author, Error> {
    NOBODY.parse().map_err(|_| Error::InvalidAnswer("the default author name is invalid".into()))
}

fn prompt(input: &SessionInput) -> Prompt {
    Prompt { id: input.id, text: input.message.clone(), attachments: input.attachments.clone() }
}

/// An input as a message of the transcript.
fn said(input: &SessionInput) -> Message {
    let text = MessagePart { id: "0".into(), content: PartContent::Text { text: input.message.clone() } };
    let attached = input.attachments.iter().enumerate().map(|(at, attachment)| MessagePart {
        id: (at + 1).to_string(),
        content: match attachment.clone() {
            MessageAttachment::Text { name, text } => {
                PartContent::File { name, mime_type: Some("text/plain".into()), uri: None, text: Some(text) }
            }
            MessageAttachment::File { path } => {
                PartContent::File { name: None, mime_type: None, uri: Some(path), text: None }
            }
            MessageAttachment::Image { mime_type, data } => {
                PartContent::Image { mime_type, data: Some(data), uri: None }
            }
        },
    });
    Message {
        author: Some(input.author.clone()),
        turn_id: Some(input.turn_id),
        ..Message::new(
            input.id.to_string(),
            MessageRole::User,
            std::iter::once(text).chain(attached).collect(),
        )
    }
}

fn outcome(answer: PermissionAnswer) -> PermissionOutcome {
    match answer {
        PermissionAnswer::Once => PermissionOutcome::Once,
        PermissionAnswer::Always => PermissionOutcome::Always,
        PermissionAnswer::Reject => PermissionOutcome::Reject,
    }
}
