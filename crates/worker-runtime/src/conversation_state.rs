//! The state of a session, and the events that report its changes.

use std::time::Duration;

use agent_adapters::Asking;
use agent_catalog::Definition;
use jiff::Timestamp;
use journal::{FrameBuffer, durable::RecordUpdate};
use protocol::{
    Author, Event, InputId, SessionId, TurnId, WaitId,
    event::{InputReceipt, InputState, SessionStatus, TokenUsage, TurnEndReason, TurnEnded, TurnStarted},
    sessions::{Session, SessionInput, SessionSnapshot, SessionState},
    wait::{Wait, WaitOutcome},
};

use crate::{
    Error,
    agent_slot::AgentPhase,
    event_batch::{EventBatch, EventOrigin},
    input_queue::InputQueue,
    sent_message::SentMessage,
    session_handle::{SessionActivity, SessionHandle, describe},
    session_transcript::SessionTranscript,
    stored_input::InputContent,
    stored_session::StoredSession,
    turn_machine::TurnMachine,
    wait_table::WaitTable,
};

mod restore;

/// The state of a session, and the events that report its changes.
///
/// It does no I/O and does not know the agent. Each change adds its events to a batch, and the
/// [`Committer`](crate::committer::Committer) stores the batch and the changed records together.
pub(crate) struct ConversationState {
    id: SessionId,
    stored: StoredSession,
    is_stored_changed: bool,
    pub(crate) turn: TurnMachine,
    pub(crate) inputs: InputQueue,
    pub(crate) waits: WaitTable,
    transcript: SessionTranscript,
    batch: EventBatch,
}

/// The changes of a conversation that are not stored yet.
#[derive(Debug, Default)]
pub(crate) struct PendingChanges {
    pub(crate) frames: FrameBuffer,
    pub(crate) records: Vec<RecordUpdate>,
}

impl ConversationState {
    /// The record of the session.
    pub(crate) fn stored(&self) -> &StoredSession {
        &self.stored
    }

    /// The record of the session, which the next commit stores.
    pub(crate) fn stored_mut(&mut self) -> &mut StoredSession {
        self.is_stored_changed = true;
        &mut self.stored
    }

    /// Stores the record and the whole transcript with the next commit.
    pub(crate) fn store_all(&mut self) {
        self.is_stored_changed = true;
    }

    /// Adds an event that the daemon concluded, or that a client caused.
    pub(crate) fn emit(&mut self, event: Event) {
        self.push_event(event, true, None);
    }

    /// Adds an event of the agent, with the message that led to it.
    pub(crate) fn emit_from_agent(&mut self, event: Event, raw: Option<&[u8]>) {
        self.push_event(event, false, raw);
    }

    fn push_event(&mut self, mut event: Event, is_synthetic: bool, raw: Option<&[u8]>) {
        if let Event::Message(message) = &mut event
            && message.turn_id.is_none()
        {
            message.turn_id = self.turn.id();
        }
        self.transcript.apply(&mut event);
        let origin = EventOrigin {
            session: &self.id,
            agent: &self.stored.options.agent,
            agent_session_id: self.stored.agent_session_id.as_deref(),
            is_synthetic,
        };
        self.batch.push(&origin, &event, raw);
    }

    /// The number of events that are not stored yet.
    pub(crate) fn new_events(&self) -> usize {
        self.batch.len()
    }

    pub(crate) fn emit_status(&mut self, agent: AgentPhase, detail: Option<String>) {
        let state = self.state(agent);
        self.emit(Event::Status(SessionStatus { state, detail }));
    }

    /// Queues a message, and titles the session after its first one.
    pub(crate) fn accept_input(
        &mut self,
        message: SentMessage,
        turn: TurnId,
        author: Author,
    ) -> Result<InputContent, Error> {
        let input = self.inputs.push(message, turn, author)?;
        if self.stored.first_words.is_none() {
            self.stored.first_words = protocol::title_of_message(&input.message);
            self.is_stored_changed |= self.stored.first_words.is_some();
        }
        let receipt = InputReceipt { message: Some(input.message.clone()), ..input.receipt() };
        self.emit(Event::Input(receipt));
        Ok(input)
    }

    /// Marks an input as delivered and adds it to the transcript. The caller sends it to the agent.
    pub(crate) fn deliver_input(&mut self, input: &InputContent) {
        if let Some(sender) = self.inputs.sender(input.id) {
            self.turn.link_sender(sender);
        }
        self.advance_input(input.id, InputState::Delivered, None);
        self.emit(Event::Message(input.to_message()));
    }

    pub(crate) fn advance_input(&mut self, id: InputId, state: InputState, reason: Option<&str>) {
        if let Some(receipt) = self.inputs.advance(id, state, reason) {
            self.emit(Event::Input(receipt));
        }
    }

    pub(crate) fn edit_input(&mut self, id: InputId, message: String, author: &Author) -> Result<(), Error> {
        let receipt = self.inputs.edit(id, message, author)?;
        self.emit(Event::Input(receipt));
        Ok(())
    }

    pub(crate) fn withdraw_input(&mut self, id: InputId, author: Option<Author>) -> Result<(), Error> {
        let receipt = self.inputs.withdraw(id, author)?;
        self.emit(Event::Input(receipt));
        Ok(())
    }

    /// Refuses all queued inputs.
    pub(crate) fn refuse_inputs(&mut self, reason: &str) {
        for id in self.inputs.queued_ids() {
            self.advance_input(id, InputState::Refused, Some(reason));
        }
    }

    /// Begins a turn: of an input, or one that the agent has begun by itself.
    pub(crate) fn begin_turn(&mut self, id: TurnId, input: Option<InputId>) {
        self.turn.begin(id, &self.id, &self.stored.options.agent);
        self.stored_mut().error = None;
        let event = Event::TurnStarted(TurnStarted { turn_id: id, input_id: input });
        self.push_event(event, input.is_none(), None);
    }

    /// Ends the running turn, if there is one, as the daemon concluded it.
    pub(crate) fn end_turn(&mut self, reason: TurnEndReason) {
        self.finish_turn(reason, None, true);
    }

    /// Ends the running turn as the agent reported it.
    pub(crate) fn end_turn_from_agent(&mut self, reason: TurnEndReason, usage: Option<TokenUsage>) {
        self.finish_turn(reason, usage, false);
    }

    fn finish_turn(&mut self, reason: TurnEndReason, usage: Option<TokenUsage>, is_synthetic: bool) {
        for event in self.waits.withdraw_all() {
            self.emit(event);
        }
        // The agent never reports some inputs as consumed, such as those that it received during a turn.
        let delivered: Vec<_> = self.inputs.delivered().map(|input| input.id).collect();
        for id in delivered {
            self.advance_input(id, InputState::Consumed, None);
        }
        let Some(turn_id) = self.turn.end(reason) else { return };
        self.push_event(Event::TurnEnded(TurnEnded { turn_id, reason, usage }), is_synthetic, None);
        self.is_stored_changed = true;
    }

    /// Opens a wait; returns whether it could be opened, or too many are open.
    pub(crate) fn open_wait(
        &mut self,
        key: String,
        asking: Asking,
        answer_timeout: Option<Duration>,
        raw: Option<&[u8]>,
    ) -> bool {
        let opened = self.waits.open(&self.id, self.turn.id(), key, asking, answer_timeout);
        let is_open = opened.is_some();
        if let Some(event) = opened {
            self.emit_from_agent(event, raw);
        }
        is_open
    }

    /// Settles a wait and returns the adapter's key of it; `None` if it is not open.
    pub(crate) fn settle_wait(
        &mut self,
        id: WaitId,
        outcome: WaitOutcome,
        author: Option<Author>,
    ) -> Option<String> {
        let (event, key) = self.waits.settle(id, outcome, author)?;
        self.emit(event);
        Some(key)
    }

    /// Settles the wait that the agent has withdrawn.
    pub(crate) fn withdraw_wait(&mut self, key: &str, raw: Option<&[u8]>) {
        if let Some(event) = self.waits.withdraw(key) {
            self.emit_from_agent(event, raw);
        }
    }

    fn has_open_wait(&self) -> bool {
        self.waits.open_waits().next().is_some()
    }

    pub(crate) fn state(&self, agent: AgentPhase) -> SessionState {
        self.state_with_waits(agent, self.has_open_wait())
    }

    fn state_with_waits(&self, agent: AgentPhase, has_open_wait: bool) -> SessionState {
        if self.turn.is_running() {
            return if has_open_wait { SessionState::Waiting } else { SessionState::Running };
        }
        match agent {
            AgentPhase::Absent => SessionState::Dormant,
            AgentPhase::Starting => SessionState::Starting,
            AgentPhase::Ready => SessionState::Idle,
        }
    }

    /// The state that changes with every event.
    pub(crate) fn activity(&self, agent: AgentPhase, newest_seq: u64) -> SessionActivity {
        let open_waits = self.waits.open_waits().count() as u64;
        SessionActivity {
            state: self.state_with_waits(agent, open_waits > 0),
            turn: self.turn.id(),
            queued_inputs: self.inputs.queued().count() as u64,
            open_waits,
            newest_seq,
        }
    }

    pub(crate) fn snapshot(
        &self,
        activity: SessionActivity,
        definition: Option<&Definition>,
    ) -> SessionSnapshot {
        let (messages, has_earlier) = self.transcript.last();
        SessionSnapshot {
            seq: activity.newest_seq,
            session: self.describe(activity, definition),
            messages,
            has_earlier,
            waits: self.waits.open_waits().map(Wait::from).collect(),
            inputs: self.inputs.queued().map(SessionInput::from).collect(),
            plan: self.stored.plan.clone(),
            commands: self.stored.commands.clone(),
        }
    }

    /// Publishes the session and its open waits.
    pub(crate) fn publish(
        &self,
        handle: &SessionHandle,
        activity: SessionActivity,
        definition: Option<&Definition>,
    ) {
        let open = self.waits.open_waits().map(Wait::from).collect();
        let settled = |id| self.waits.find(id).map(Wait::from);
        handle.publish(self.describe(activity, definition), open, settled);
    }

    fn describe(&self, activity: SessionActivity, definition: Option<&Definition>) -> Session {
        describe(&self.id, &self.stored, definition, activity)
    }

    /// Moves the changes since the last call to `changes`. `stored_seq` is the number of the newest stored event.
    pub(crate) fn take_changes(&mut self, changes: &mut PendingChanges, stored_seq: u64) {
        let is_unfinished =
            self.turn.is_running() || self.inputs.queued().next().is_some() || self.has_open_wait();
        self.is_stored_changed |= self.transcript.is_due() || is_unfinished != self.stored.unfinished;
        changes.records.extend(self.inputs.take_updates());
        changes.records.extend(self.waits.take_updates());
        // Only with events: a clean shutdown writes the records of all sessions, which must not make them look used.
        if self.batch.len() > 0 {
            self.stored.updated_at = Timestamp::now();
            changes.frames = self.batch.take_after(&changes.frames);
        }
        if self.is_stored_changed {
            changes.records.extend(self.transcript.take_updates());
            self.stored.folded = stored_seq + changes.frames.len() as u64;
            self.stored.messages = self.transcript.len();
            self.stored.unfinished = is_unfinished;
            self.stored.turn = self.turn.id();
            changes.records.push(self.stored.update());
            self.is_stored_changed = false;
        }
    }

    /// Drops stored messages from memory. Call it after a commit.
    pub(crate) fn trim(&mut self) {
        if !self.turn.is_running() {
            self.transcript.trim();
        }
    }
}
