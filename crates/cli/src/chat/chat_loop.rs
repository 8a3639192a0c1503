//! The loop of a conversation: it reads the events of the session, the user's input and signals.

mod asked_waits;

use std::{
    collections::{HashSet, VecDeque},
    time::{Duration, Instant},
};

use client::{Client, RecordEvent, SessionEvents};
use protocol::{
    Event, EventRecord, ProblemKind, SessionId, TurnId, WaitId,
    event::{InputState, TurnEndReason},
    sessions::WhenBusy,
};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{
    allow_rule::AllowRule,
    chat_input::{ChatInput, UserInput},
    device_approvals::DeviceApprovals,
    one_shot::OneShot,
    screen::TextStyle,
    session::{OpenedSession, UnconfirmedMessage},
    session_view::SessionView,
    stray_line::stray_line_hint,
    wait_prompt::{TypedAnswer, WaitPrompt},
};
use crate::exit::{CommandError, CommandResult, IncompleteTurn};
use asked_waits::next_approval_change;

/// How many messages are kept while the daemon cannot be reached.
const KEPT_MAX: usize = 64;

/// Tells the user that a message is kept.
const KEPT_HINT: &str = "the daemon cannot be reached: the message is sent when it is back";

/// How long to wait before a message is sent again while the events still arrive.
const SEND_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// A conversation: the session as far as this client knows it, and what the user types.
pub(super) struct ChatLoop<'a> {
    client: &'a Client,
    id: SessionId,
    pub(super) view: SessionView,
    input: ChatInput,
    interrupt: Signal,
    terminate: Signal,
    /// The only turn of the conversation, if the command sends one prompt.
    one_shot: Option<OneShot>,
    /// Unanswered permission requests and questions of the agent, oldest first.
    open_waits: VecDeque<WaitPrompt>,
    /// The first open wait is on the screen.
    is_wait_shown: bool,
    /// When it was shown.
    wait_shown_at: Instant,
    /// The wait that the line in the editor answers; `None` if the line is a message.
    edited_answer: Option<WaitId>,
    /// The device approvals of the session, if a hub has them and a user is asked.
    device_approvals: Option<DeviceApprovals>,
    /// The open waits that are device approvals.
    device_waits: HashSet<WaitId>,
    running_turn: Option<TurnId>,
    /// Turns of messages from this chat that have not ended, including queued ones.
    unfinished_turns: HashSet<TurnId>,
    /// Messages that could not be sent, in their order.
    kept: VecDeque<UnconfirmedMessage>,
    /// The connection of the events is lost.
    is_offline: bool,
    /// Standard input has ended.
    input_ended: bool,
    /// Ctrl-C was pressed once; a second time leaves.
    interrupted: bool,
    last_turn_end: Option<TurnEndReason>,
}

/// Whether the chat goes on after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChatFlow {
    Continue,
    Leave,
}

impl<'a> ChatLoop<'a> {
    /// A conversation in an opened session. From here on, signals are for the conversation.
    pub(super) fn new(
        client: &'a Client,
        opened: &OpenedSession,
        view: SessionView,
        input: ChatInput,
    ) -> Result<Self, CommandError> {
        let OpenedSession { id, snapshot, .. } = opened;
        Ok(Self {
            client,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            id: id.clone(),
            view,
            input,
            one_shot: None,
            open_waits: snapshot.waits.iter().map(WaitPrompt::from_wait).collect(),
            is_wait_shown: false,
            wait_shown_at: Instant::now(),
            edited_answer: None,
            device_approvals: None,
            device_waits: HashSet::new(),
            running_turn: snapshot.session.turn_id,
            unfinished_turns: HashSet::new(),
            kept: VecDeque::new(),
            is_offline: false,
            input_ended: false,
            interrupted: false,
            last_turn_end: None,
        })
    }

    /// Asks the user to approve the use of devices too. A script is not asked: a person may answer in the inbox of the hub.
    pub(super) async fn with_device_approvals(mut self) -> Self {
        if self.input.is_terminal() {
            self.device_approvals = DeviceApprovals::open(self.client, &self.id).await;
        }
        self
    }

    /// Runs the conversation until the user leaves it.
    pub(super) async fn run(mut self, mut events: SessionEvents) -> CommandResult {
        match self.converse(&mut events).await {
            Ok(()) => self.finish(),
            Err(error) => {
                if matches!(error, CommandError::Unreachable(_)) {
                    self.show_how_to_continue()?;
                }
                Err(error)
            }
        }
    }

    /// Sends one prompt and follows its turn to the end.
    pub(super) async fn run_one_shot(
        mut self,
        mut events: SessionEvents,
        prompt: String,
        allow: AllowRule,
    ) -> Result<OneShot, CommandError> {
        // Open waits belong to an earlier turn, about which this user has not decided.
        self.open_waits.clear();
        self.input_ended = !self.input.is_terminal();
        let message = UnconfirmedMessage::new(prompt, WhenBusy::Queue);
        let sent = message.send_with_retries(self.client, &self.id).await?;
        self.unfinished_turns.insert(sent.turn_id);
        self.view.mark_as_own(sent.input_id);
        self.one_shot = Some(OneShot::new(&sent, allow));
        self.converse(&mut events).await?;
        self.view.screen.start_line()?;
        self.one_shot.ok_or_else(|| session_ended("the turn was not recorded"))
    }

    async fn converse(&mut self, events: &mut SessionEvents) -> CommandResult {
        loop {
            if self.is_done() {
                break;
            }
            self.settle_waits_without_user().await?;
            self.prompt_user()?;
            let accepts_input = self.accepts_input();
            let flow = tokio::select! {
                event = events.next() => match event? {
                    Some(RecordEvent::Record(record, _)) => self.on_record(&record)?,
                    Some(RecordEvent::Gap(_)) => {
                        self.view.screen.line(TextStyle::Red, "[some events are missing here]")?;
                        ChatFlow::Continue
                    }
                    Some(RecordEvent::ConnectionLost) => {
                        self.is_offline = true;
                        self.view.screen.line(TextStyle::Yellow, "connection lost, reconnecting")?;
                        ChatFlow::Continue
                    }
                    Some(RecordEvent::ConnectionRestored) => {
                        self.is_offline = false;
                        self.view.screen.line(TextStyle::Yellow, "connected again")?;
                        self.send_kept().await?;
                        ChatFlow::Continue
                    }
                    Some(RecordEvent::Other(..)) => ChatFlow::Continue,
                    None => return Err(session_ended("the session no longer exists")),
                },
                input = self.input.next(), if accepts_input => self.on_input(input).await?,
                change = next_approval_change(&mut self.device_approvals) => {
                    self.on_approval_change(change)?;
                    ChatFlow::Continue
                }
                // The events may still arrive although a request failed. Otherwise the restored connection sends the messages.
                () = tokio::time::sleep(SEND_AGAIN_AFTER), if !self.kept.is_empty() && !self.is_offline => {
                    self.send_kept().await?;
                    ChatFlow::Continue
                }
                _ = self.interrupt.recv() => {
                    self.view.screen.key_echoed();
                    self.on_interrupt().await?
                }
                _ = self.terminate.recv() => {
                    // The work of a script that was stopped would have no reader.
                    if self.one_shot.is_some() {
                        self.stop_turn().await?;
                    }
                    ChatFlow::Leave
                }
            };
            if flow == ChatFlow::Leave {
                break;
            }
        }
        Ok(())
    }

    /// Whether the conversation is over, unless the user leaves earlier.
    fn is_done(&self) -> bool {
        if self.one_shot.is_some() {
            self.unfinished_turns.is_empty()
        } else {
            self.input_ended && !self.is_busy()
        }
    }

    fn is_busy(&self) -> bool {
        self.running_turn.is_some() || !self.unfinished_turns.is_empty() || !self.kept.is_empty()
    }

    /// Whether to read input now. Without a terminal, the next line is read only when the previous turn has ended, or to answer a
    /// wait.
    fn accepts_input(&self) -> bool {
        !self.input_ended && (self.input.is_terminal() || !self.is_busy() || !self.open_waits.is_empty())
    }

    /// Starts the line editor for an answer or a message. While the agent works there is no prompt, but plain lines are read.
    fn prompt_user(&mut self) -> CommandResult {
        if let Some(wait) = self.open_waits.front_mut() {
            if !self.is_wait_shown {
                self.is_wait_shown = true;
                self.wait_shown_at = Instant::now();
                wait.show(&mut self.view.screen)?;
                // The editor cannot change its prompt while it reads a line: the user ends that line first.
                if self.one_shot.is_none() && self.input.is_editing() {
                    self.view.screen.line(TextStyle::Dim, "press Enter to answer")?;
                }
            }
            let (id, prompt) = (wait.id, wait.prompt());
            return self.start_editor(prompt, Some(id));
        }
        if self.one_shot.is_some() {
            return Ok(());
        }
        if self.is_busy() && !self.view.screen.is_typing() {
            self.input.read_plain_lines();
            Ok(())
        } else {
            self.start_editor("> ", None)
        }
    }

    /// Asks for a line, unless that was done already.
    fn start_editor(&mut self, prompt: &'static str, answered: Option<WaitId>) -> CommandResult {
        if !self.input.is_terminal() {
            return Ok(());
        }
        if self.one_shot.is_some() {
            // Without the editor nothing shows which prompt a line is typed at, so that each question gets a new one.
            if !self.input.is_editing() || self.edited_answer != answered {
                self.edited_answer = answered;
                self.input.discard_typed();
                self.view.screen.prompt(prompt)?;
                self.input.edit(prompt);
            }
        } else if !self.input.is_editing() {
            self.edited_answer = answered;
            self.view.screen.begin_typing()?;
            self.input.edit(prompt);
        }
        Ok(())
    }

    fn on_record(&mut self, record: &EventRecord) -> Result<ChatFlow, CommandError> {
        // Before the event is shown: the editor draws its prompt again below it.
        let settled = match &record.event {
            Event::PermissionResolved(resolved) => Some(resolved.id),
            Event::QuestionResolved(resolved) => Some(resolved.id),
            _ => None,
        };
        if settled.is_some() && settled == self.edited_answer {
            self.input.close_prompt();
        }
        if let Some(one_shot) = &mut self.one_shot {
            one_shot.answer.apply(&record.event, record.time);
            // An earlier turn may still run. Neither its output nor its waits belong to this command.
            if !one_shot.answer.has_started() && matters_only_in_turn(&record.event) {
                return Ok(ChatFlow::Continue);
            }
        }
        self.view.show_event(&record.event, &record.agent)?;
        match &record.event {
            Event::TurnStarted(started) => self.running_turn = Some(started.turn_id),
            Event::TurnEnded(ended) => {
                self.running_turn = None;
                self.interrupted = false;
                self.unfinished_turns.remove(&ended.turn_id);
                self.last_turn_end = Some(ended.reason);
            }
            Event::Input(receipt)
                if matches!(receipt.state, InputState::Refused | InputState::Withdrawn)
                    && receipt.turn_id != self.running_turn
                    && receipt.turn_id.is_some_and(|turn| self.unfinished_turns.remove(&turn)) =>
            {
                self.last_turn_end = Some(TurnEndReason::Failed);
            }
            Event::PermissionAsked(permission) => {
                self.open_waits
                    .push_back(WaitPrompt::new(&protocol::wait::WaitRequest::Permission(permission.clone())));
            }
            Event::QuestionAsked(question) => {
                self.open_waits
                    .push_back(WaitPrompt::new(&protocol::wait::WaitRequest::Question(question.clone())));
            }
            Event::PermissionResolved(resolved) => self.close_wait(resolved.id),
            Event::QuestionResolved(resolved) => self.close_wait(resolved.id),
            Event::Ended(_) => return Err(session_ended("the session was deleted")),
            _ => {}
        }
        Ok(ChatFlow::Continue)
    }

    async fn on_input(&mut self, input: UserInput) -> Result<ChatFlow, CommandError> {
        if !self.input.is_editing() {
            self.view.screen.end_typing()?;
            self.view.screen.line_entered();
        }
        match input {
            UserInput::End => {
                self.input_ended = true;
                // A user who presses Ctrl-D wants to leave. A script still wants the answers to the prompts it has sent, and
                // `tombolo run` its own.
                let leaves = self.input.is_terminal() && self.one_shot.is_none();
                Ok(if leaves { ChatFlow::Leave } else { ChatFlow::Continue })
            }
            UserInput::Interrupt => self.on_interrupt().await,
            UserInput::Line(line) => {
                self.interrupted = false;
                self.on_line(line).await
            }
        }
    }

    async fn on_line(&mut self, line: String) -> Result<ChatFlow, CommandError> {
        let (edited, open) = (self.edited_answer.take(), self.open_waits.front().map(|wait| wait.id));
        if self.input.is_terminal()
            && let Some(hint) = stray_line_hint(edited, open, self.wait_shown_at.elapsed())
        {
            if !line.trim().is_empty() {
                self.view.screen.line(TextStyle::Yellow, hint)?;
            }
            return Ok(ChatFlow::Continue);
        }
        if let Some(mut wait) = self.open_waits.pop_front() {
            match wait.parse_line(&line) {
                TypedAnswer::ShowAll => {
                    wait.show_all(&mut self.view.screen)?;
                    self.open_waits.push_front(wait);
                }
                TypedAnswer::Invalid(hint) if self.input.is_terminal() => {
                    self.view.screen.line(TextStyle::Dim, hint)?;
                    self.open_waits.push_front(wait);
                }
                // A script does not know that the agent asks something: the line is its next prompt.
                TypedAnswer::Invalid(_) => {
                    let rejection = wait.rejection();
                    self.answer(wait, rejection).await?;
                    self.send(line).await?;
                }
                TypedAnswer::NextQuestion => {
                    self.is_wait_shown = false;
                    self.open_waits.push_front(wait);
                }
                answer => {
                    self.answer(wait, answer).await?;
                }
            }
            return Ok(ChatFlow::Continue);
        }
        if line.trim().is_empty() {
            return Ok(ChatFlow::Continue);
        }
        if self.one_shot.is_some() {
            let hint = format!("not sent: send further messages with `tombolo chat --session {}`", self.id);
            self.view.screen.line(TextStyle::Yellow, &hint)?;
            return Ok(ChatFlow::Continue);
        }
        if self.input.is_terminal() && line.trim() == "/quit" {
            return Ok(ChatFlow::Leave);
        }
        self.send(line).await?;
        Ok(ChatFlow::Continue)
    }

    async fn send(&mut self, line: String) -> CommandResult {
        let steered = line.strip_prefix('!').filter(|_| self.is_busy()).map(|rest| rest.trim().to_owned());
        let message = match steered {
            Some(message) => UnconfirmedMessage::new(message, WhenBusy::Steer),
            None => UnconfirmedMessage::new(line, WhenBusy::Queue),
        };
        if self.kept.len() >= KEPT_MAX {
            return self
                .view
                .screen
                .line(TextStyle::Yellow, "not sent: too many messages wait for the connection");
        }
        // After those that were typed earlier.
        if self.is_offline || !self.kept.is_empty() {
            self.kept.push_back(message);
            return self.view.screen.line(TextStyle::Yellow, KEPT_HINT);
        }
        if let Some(unsent) = self.try_send(message).await? {
            self.kept.push_back(unsent);
            self.view.screen.line(TextStyle::Yellow, KEPT_HINT)?;
        }
        Ok(())
    }

    /// Sends the messages that were kept, until one of them cannot be sent.
    async fn send_kept(&mut self) -> CommandResult {
        while let Some(message) = self.kept.pop_front() {
            if let Some(unsent) = self.try_send(message).await? {
                self.kept.push_front(unsent);
                break;
            }
        }
        Ok(())
    }

    /// Sends a message. Returns it if the daemon could not be reached.
    async fn try_send(
        &mut self,
        message: UnconfirmedMessage,
    ) -> Result<Option<UnconfirmedMessage>, CommandError> {
        let (busy, when_busy) = (self.is_busy(), message.when_busy());
        match message.send(self.client, &self.id).await {
            Ok(sent) => {
                self.unfinished_turns.insert(sent.turn_id);
                // A queued message is shown once more when its turn starts, because other output has come in between.
                if !busy || when_busy == WhenBusy::Steer {
                    self.view.mark_as_own(sent.input_id);
                }
                match (busy, when_busy) {
                    (true, WhenBusy::Steer) => {
                        self.view.screen.line(TextStyle::Dim, "  sent to the agent")?
                    }
                    (true, _) => {
                        self.view.screen.line(TextStyle::Dim, "  queued until the current turn ends")?;
                    }
                    (false, _) => {}
                }
                Ok(None)
            }
            Err(client::Error::Transport(_)) => Ok(Some(message)),
            Err(error) if error.kind() == Some(ProblemKind::UnsupportedFeature) => {
                let hint = "this agent does not accept messages during a turn; leave out the `!` to queue the message";
                self.view.screen.line(TextStyle::Yellow, hint).map(|()| None)
            }
            Err(error) if error.kind() == Some(ProblemKind::QueueFull) => {
                let hint = "too many messages are queued; try again when a turn has ended";
                self.view.screen.line(TextStyle::Yellow, hint).map(|()| None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Handles Ctrl-C: the first one interrupts the running turn, the second one leaves.
    async fn on_interrupt(&mut self) -> Result<ChatFlow, CommandError> {
        if std::mem::replace(&mut self.interrupted, true) {
            return Ok(ChatFlow::Leave);
        }
        if self.is_busy() {
            self.view.screen.line(TextStyle::Dim, "– interrupting the agent; press Ctrl-C again to leave")?;
            match self.stop_turn().await {
                Err(CommandError::Unreachable(_)) => {
                    let hint = "the daemon cannot be reached, so the agent was not interrupted";
                    self.view.screen.line(TextStyle::Yellow, hint)?;
                }
                stopped => stopped?,
            }
        } else {
            self.view.screen.line(TextStyle::Dim, "press Ctrl-C again to leave, or Ctrl-D")?;
        }
        Ok(ChatFlow::Continue)
    }

    /// Interrupts the running turn. If the turn of `tombolo run` is still queued behind another, that other one goes on.
    async fn stop_turn(&mut self) -> CommandResult {
        let sessions = self.client.sessions();
        match &self.one_shot {
            Some(one_shot) if !one_shot.answer.has_started() => {
                match sessions.withdraw(&self.id, one_shot.input).await {
                    // It has just been delivered.
                    Err(error) if error.kind().is_some() => sessions.cancel(&self.id).await.map(drop)?,
                    withdrawn => withdrawn.map(drop)?,
                }
            }
            _ => sessions.cancel(&self.id).await.map(drop)?,
        }
        Ok(())
    }

    /// Says what was not sent, and how to continue the conversation later.
    fn show_how_to_continue(&mut self) -> CommandResult {
        self.view.screen.stop_typing()?;
        self.view.screen.start_line()?;
        for message in std::mem::take(&mut self.kept) {
            self.view.screen.line(TextStyle::Yellow, &format!("not sent: {}", message.text()))?;
        }
        let is_working = self.is_busy() && !self.is_offline;
        let busy = if is_working { "the agent keeps working; " } else { "" };
        let line = format!("{busy}continue with `tombolo chat --session {}`", self.id);
        self.view.screen.line(TextStyle::Dim, &line)
    }

    fn finish(mut self) -> CommandResult {
        self.view.screen.stop_typing()?;
        self.view.screen.start_line()?;
        if self.input.is_terminal() {
            return self.show_how_to_continue();
        }
        self.last_turn_end.map_or(Ok(()), IncompleteTurn::check)
    }
}

/// Whether the event is part of the turn that runs, as opposed to the life of the session and its inputs.
fn matters_only_in_turn(event: &Event) -> bool {
    !matches!(event, Event::Ended(_) | Event::Input(_) | Event::Started(_))
}

fn session_ended(how: &str) -> CommandError {
    CommandError::AgentEnded { how: how.into(), last_words: String::new() }
}
