//! `tombolo chat`: a conversation with an agent in the terminal, line by line.
//!
//! One loop reads the events of the session, the user's input and signals. What is typed while the agent works is sent to the
//! daemon at once and queued there, so it is not lost if the terminal closes.

mod background_printer;
mod chat_input;
mod closable_prompt;
mod diff;
mod options;
mod permission_view;
pub(crate) mod request_text;
mod screen;
mod session;
mod session_view;
mod stray_line;
pub(crate) mod wait_prompt;

use std::{
    collections::{HashSet, VecDeque},
    process::ExitCode,
    time::{Duration, Instant},
};

use client::{Client, RecordEvent, SessionEvents};
use protocol::{
    Event, EventRecord, ProblemKind, SessionId, TurnId, WaitId,
    event::{InputState, TurnEndReason},
    sessions::{AnswerPermissionRequest, AnswerQuestionRequest, WhenBusy},
};
use tokio::signal::unix::{SignalKind, signal};

pub(crate) use options::ChatOptions;

use crate::exit::{self, CommandError, CommandResult};
use chat_input::{ChatInput, UserInput};
use screen::{ChatScreen, TextStyle};
use session::OpenedSession;
use session_view::SessionView;
use stray_line::stray_line_hint;
use wait_prompt::{TypedAnswer, WaitPrompt};

/// How long to wait for the daemon to return after the connection was lost.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(120);

/// How many earlier messages are shown when a session is resumed.
const PAST_MESSAGES_MAX: usize = 6;

/// Runs the chat until the user leaves or the session ends.
pub(crate) fn run(options: &ChatOptions) -> ExitCode {
    let outcome = options.server.connect().and_then(|client| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let outcome = runtime.block_on(chat(&client, options));
        // Do not wait for the thread that reads the keyboard: its read may never return.
        runtime.shutdown_background();
        outcome
    });
    let unreachable = matches!(outcome, Err(CommandError::Unreachable(_)));
    let code = exit::report(outcome, false, &format!("tombolo chat at {}", options.server.url()));
    if unreachable {
        exit::say("start a daemon with `tombolo up`, or pass its URL with --endpoint");
    }
    code
}

async fn chat(client: &Client, options: &ChatOptions) -> CommandResult {
    let OpenedSession { id, snapshot, resumed } = session::open_session(client, options).await?;
    let events = client.sessions().events(&id, snapshot.seq, false).await?.reconnect_for(RECONNECT_TIMEOUT);
    let (input, printer) = ChatInput::open()?;
    let mut screen = ChatScreen::new(input.is_terminal());
    screen.set_printer(printer);
    let mut view = SessionView::new(screen);
    view.show_header(&snapshot.session, resumed)?;
    if resumed {
        let skip = snapshot.messages.len().saturating_sub(PAST_MESSAGES_MAX);
        if snapshot.has_earlier || skip > 0 {
            view.screen.line(TextStyle::Dim, "…")?;
        }
        snapshot.messages[skip..].iter().try_for_each(|message| view.show_past_message(message))?;
    }
    let open_waits = snapshot.waits.iter().map(WaitPrompt::from_wait).collect();
    let chat_loop = ChatLoop {
        client,
        id,
        view,
        input,
        open_waits,
        is_wait_shown: false,
        wait_shown_at: Instant::now(),
        edited_answer: None,
        running_turn: snapshot.session.turn_id,
        unfinished_turns: HashSet::new(),
        input_ended: false,
        interrupted: false,
        last_turn_end: None,
    };
    chat_loop.run(events).await
}

struct ChatLoop<'a> {
    client: &'a Client,
    id: SessionId,
    view: SessionView,
    input: ChatInput,
    /// Unanswered permission requests and questions of the agent, oldest first.
    open_waits: VecDeque<WaitPrompt>,
    /// The first open wait is on the screen.
    is_wait_shown: bool,
    /// When it was shown.
    wait_shown_at: Instant,
    /// The wait that the line in the editor answers; `None` if the line is a message.
    edited_answer: Option<WaitId>,
    running_turn: Option<TurnId>,
    /// Turns of messages from this chat that have not ended, including queued ones.
    unfinished_turns: HashSet<TurnId>,
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

impl ChatLoop<'_> {
    async fn run(mut self, mut events: SessionEvents) -> CommandResult {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        loop {
            if self.input_ended && !self.is_busy() {
                break;
            }
            self.reject_waits_without_input().await?;
            self.prompt_user()?;
            let accepts_input = self.accepts_input();
            let flow = tokio::select! {
                event = events.next() => match event? {
                    Some(RecordEvent::Record(record, _)) => self.on_record(&record)?,
                    Some(RecordEvent::Gap(_)) => {
                        self.view.screen.line(TextStyle::Red, "[some events are missing here]")?;
                        ChatFlow::Continue
                    }
                    Some(RecordEvent::Other(..)) => ChatFlow::Continue,
                    None => return Err(session_ended("the session no longer exists")),
                },
                input = self.input.next(), if accepts_input => self.on_input(input).await?,
                _ = interrupt.recv() => {
                    self.view.screen.key_echoed();
                    self.interrupt().await?
                }
                _ = terminate.recv() => ChatFlow::Leave,
            };
            if flow == ChatFlow::Leave {
                break;
            }
        }
        self.finish()
    }

    fn is_busy(&self) -> bool {
        self.running_turn.is_some() || !self.unfinished_turns.is_empty()
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
            }
            let (id, prompt) = (wait.id, wait.prompt());
            return self.start_editor(prompt, Some(id));
        }
        if self.is_busy() && !self.view.screen.is_typing() {
            self.input.read_plain_lines();
            Ok(())
        } else {
            self.start_editor("> ", None)
        }
    }

    fn start_editor(&mut self, prompt: &'static str, answered: Option<WaitId>) -> CommandResult {
        if self.input.is_terminal() && !self.input.is_editing() {
            self.edited_answer = answered;
            self.view.screen.begin_typing()?;
            self.input.edit(prompt);
        }
        Ok(())
    }

    /// After the end of the input no user can answer, so all open waits are rejected.
    async fn reject_waits_without_input(&mut self) -> CommandResult {
        while self.input_ended
            && let Some(mut wait) = self.open_waits.pop_front()
        {
            self.is_wait_shown = false;
            wait.show(&mut self.view.screen)?;
            let answer = wait.rejection();
            self.answer(&wait, answer).await?;
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
        self.view.show_event(record)?;
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

    /// Removes a wait that was answered here or by another client.
    fn close_wait(&mut self, id: WaitId) {
        let is_first = self.open_waits.front().is_some_and(|wait| wait.id == id);
        self.is_wait_shown &= !is_first;
        self.open_waits.retain(|wait| wait.id != id);
    }

    async fn on_input(&mut self, input: UserInput) -> Result<ChatFlow, CommandError> {
        if !self.input.is_editing() {
            self.view.screen.end_typing()?;
            self.view.screen.line_entered();
        }
        match input {
            UserInput::End => {
                self.input_ended = true;
                // A user who presses Ctrl-D wants to leave. A script still wants the answers to the prompts it has sent.
                Ok(if self.input.is_terminal() { ChatFlow::Leave } else { ChatFlow::Continue })
            }
            UserInput::Interrupt => self.interrupt().await,
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
                    self.answer(&wait, rejection).await?;
                    self.send(line).await?;
                }
                TypedAnswer::NextQuestion => {
                    self.is_wait_shown = false;
                    self.open_waits.push_front(wait);
                }
                answer => self.answer(&wait, answer).await?,
            }
            return Ok(ChatFlow::Continue);
        }
        if line.trim().is_empty() {
            return Ok(ChatFlow::Continue);
        }
        if self.input.is_terminal() && line.trim() == "/quit" {
            return Ok(ChatFlow::Leave);
        }
        self.send(line).await?;
        Ok(ChatFlow::Continue)
    }

    async fn send(&mut self, line: String) -> CommandResult {
        let busy = self.is_busy();
        let steered = line.strip_prefix('!').filter(|_| busy).map(|rest| rest.trim().to_owned());
        let (message, when_busy) = match steered {
            Some(message) => (message, WhenBusy::Steer),
            None => (line, WhenBusy::Queue),
        };
        match session::send_message(self.client, &self.id, message, when_busy).await {
            Ok(sent) => {
                self.unfinished_turns.insert(sent.turn_id);
                // A queued message is shown once more when its turn starts, because other output has come in between.
                if !busy || when_busy == WhenBusy::Steer {
                    self.view.mark_as_own(sent.input_id);
                }
                match (busy, when_busy) {
                    (true, WhenBusy::Steer) => self.view.screen.line(TextStyle::Dim, "  sent to the agent"),
                    (true, _) => {
                        self.view.screen.line(TextStyle::Dim, "  queued until the current turn ends")
                    }
                    (false, _) => Ok(()),
                }
            }
            Err(error) if error.kind() == Some(ProblemKind::UnsupportedFeature) => {
                let hint = "this agent does not accept messages during a turn; leave out the `!` to queue the message";
                self.view.screen.line(TextStyle::Yellow, hint)
            }
            Err(error) if error.kind() == Some(ProblemKind::QueueFull) => self
                .view
                .screen
                .line(TextStyle::Yellow, "too many messages are queued; try again when a turn has ended"),
            Err(error) => Err(error.into()),
        }
    }

    async fn answer(&mut self, wait: &WaitPrompt, answer: TypedAnswer) -> CommandResult {
        self.is_wait_shown = false;
        let (sessions, id, author) = (self.client.sessions(), &self.id, None);
        let answered = match answer {
            TypedAnswer::Permission(reply) => {
                sessions.permit(id, wait.id, &AnswerPermissionRequest { reply, author }).await
            }
            TypedAnswer::Question(answers) => {
                sessions.answer(id, wait.id, &AnswerQuestionRequest { answers, author }).await
            }
            _ => sessions.reject(id, wait.id, author).await,
        };
        match answered {
            Ok(_) => Ok(()),
            // Another client has answered, or the turn is over. The event stream reports both.
            Err(error)
                if matches!(error.kind(), Some(ProblemKind::WaitSettled | ProblemKind::WaitNotFound)) =>
            {
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Handles Ctrl-C: the first one interrupts the running turn, the second one leaves.
    async fn interrupt(&mut self) -> Result<ChatFlow, CommandError> {
        if std::mem::replace(&mut self.interrupted, true) {
            return Ok(ChatFlow::Leave);
        }
        if self.is_busy() {
            self.view.screen.line(TextStyle::Dim, "– interrupting the agent; press Ctrl-C again to leave")?;
            self.client.sessions().cancel(&self.id).await?;
        } else {
            self.view.screen.line(TextStyle::Dim, "press Ctrl-C again to leave, or Ctrl-D")?;
        }
        Ok(ChatFlow::Continue)
    }

    fn finish(mut self) -> CommandResult {
        self.view.screen.stop_typing()?;
        self.view.screen.start_line()?;
        if self.input.is_terminal() {
            let busy = if self.is_busy() { "the agent keeps working; " } else { "" };
            let line = format!("{busy}continue with `tombolo chat --session {}`", self.id);
            return self.view.screen.line(TextStyle::Dim, &line);
        }
        match self.last_turn_end {
            Some(TurnEndReason::Failed) => Err(CommandError::TurnFailed("the last turn failed".into())),
            Some(TurnEndReason::Interrupted) => {
                Err(CommandError::TurnFailed("the last turn was interrupted".into()))
            }
            Some(TurnEndReason::Refused) => {
                Err(CommandError::TurnFailed("the model refused to answer".into()))
            }
            _ => Ok(()),
        }
    }
}

fn session_ended(how: &str) -> CommandError {
    CommandError::AgentEnded { how: how.into(), last_words: String::new() }
}
